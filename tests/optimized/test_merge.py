"""Merging states: inside the bound of `spec/attention-tolerance.md`, with empty states as identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kvconformance.surfaces.attention.judging.certified import Parts, merged
from kvoptimized.merging import merge
from kvoptimized.refusals import DeviceError, StrideError
from kvreference.tolerance.declaration import Declaration
from kvspec.refusals import DtypeError, ShapeError
from tests.optimized.attending import DTYPES, LSE_ERROR
from tests.optimized.caches import interpreted

MASSES = (0.0, -np.inf, -40.0, 40.0, 3.0)


def states(seed: int, masses: list[float], heads: int, head_dim: int, dtype: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs `[rows, heads, head_dim]` and LSE about the given mass of each row; empty states hold NaN."""
    random = np.random.default_rng(seed)
    lse = np.array(masses)[:, None] + random.standard_normal((len(masses), heads))
    output = random.standard_normal((len(masses), heads, head_dim)) * random.choice([1, 100])
    output[np.isneginf(lse)] = np.nan
    return torch.from_numpy(output).to(DTYPES[dtype]), torch.from_numpy(lse).float()


@interpreted
@given(st.data())
def test_states_of_any_mass_merge_within_the_bound(data: Any) -> None:
    rows = data.draw(st.lists(st.tuples(st.sampled_from(MASSES), st.sampled_from(MASSES)), max_size=9))
    heads, head_dim = data.draw(st.sampled_from([1, 2, 5])), data.draw(st.sampled_from([8, 64, 80, 128, 256]))
    dtype, target = data.draw(st.sampled_from(sorted(DTYPES))), data.draw(st.sampled_from([None, *sorted(DTYPES)]))
    seed = data.draw(st.integers(0, 9999))
    a, b = (states(seed + side, [row[side] for row in rows], heads, head_dim, dtype) for side in (0, 1))
    output, lse = merge(*a, *b, dtype=None if target is None else DTYPES[target])
    kept = [np.where(np.isnan(x.double().numpy()), 0.0, x.double().numpy()) for x in (a[0], b[0])]
    parts = Parts((kept[0], kept[1]), (a[1].double().numpy(), b[1].double().numpy()))
    bounds = merged(parts, Declaration(target or dtype, None), LSE_ERROR)
    found, log = output.double().numpy(), lse.double().numpy()
    assert ((bounds.low <= found) & (found <= bounds.high)).all()
    assert ((bounds.lse_low <= log) & (log <= bounds.lse_high)).all()
    assert output.dtype == DTYPES[target or dtype]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_state_changes_nothing_whatever_its_output(dtype: str) -> None:
    output, lse = states(1, [0.0, 40.0, -300.0], 2, 80, dtype)
    nothing, none = torch.full_like(output, float("nan")), torch.full_like(lse, -float("inf"))
    for pair in ((output, lse, nothing, none), (nothing, none, output, lse)):
        found = merge(*pair)
        assert torch.equal(found[0], output) and torch.equal(found[1], lse)
    found = merge(nothing, none, nothing, none)
    assert (found[0] == 0).all() and torch.isneginf(found[1]).all()


def test_the_order_of_the_two_does_not_matter() -> None:
    a, b = states(1, [0.0, 3.0, -40.0], 3, 64, "bf16"), states(2, [1.0, -2.0, 0.0], 3, 64, "bf16")
    assert all(torch.equal(x, y) for x, y in zip(merge(*a, *b), merge(*b, *a), strict=True))


def test_a_row_has_the_same_bits_alone() -> None:
    a, b = states(1, [0.0] * 40, 2, 128, "bf16"), states(2, [1.0] * 40, 2, 128, "bf16")
    whole = merge(*a, *b)
    alone = merge(*(x[37:38] for x in (*a, *b)))
    assert torch.equal(whole[0][37:38], alone[0]) and torch.equal(whole[1][37:38], alone[1])


def test_what_does_not_fit_is_refused() -> None:
    output, lse = states(1, [0.0, 1.0], 2, 16, "bf16")
    for wrong, error in (
        ((output[0], lse, output, lse), ShapeError),
        ((output, lse, output[:1], lse), ShapeError),
        ((output, lse[:1], output, lse), ShapeError),
        ((output, lse, output.float(), lse), DtypeError),
        ((output.double(), lse, output.double(), lse), DtypeError),
        ((output, lse.half(), output, lse), DtypeError),
        ((output, lse, output, lse.to("meta")), DeviceError),
        ((output, lse, output.transpose(0, 1), lse), StrideError),
    ):
        with pytest.raises(error):
            merge(*wrong)
    with pytest.raises(DtypeError, match="merged output"):
        merge(output, lse, output, lse, dtype=torch.int8)


def test_the_operator_keeps_the_contract_of_torch_library() -> None:
    a, b = states(1, [0.0, 3.0], 3, 64, "bf16"), states(2, [1.0, -2.0], 3, 64, "bf16")
    for dtype in (None, torch.float32):
        torch.library.opcheck(torch.ops.kvspec.merge.default, (*a, *b), {"dtype": dtype})
