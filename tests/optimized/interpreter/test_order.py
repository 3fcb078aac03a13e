"""Bits of the interpreter that depend on nothing but the input: the order of dots, and elementary functions."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kvoptimized.interpreter import elementary
from tests.optimized.interpreter import tiny

PRECISION = 200
ROUNDING = {"exp": 2.0**-50, "exp2": 2.0**-50, "log": 2.0**-50, "log2": 2.0**-50, "tanh": 2.0**-46}
"""Relative errors that the module promises."""
EXACT: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "tanh": mpmath.tanh,
}


def noise(seed: int, *shape: int) -> torch.Tensor:
    """Numbers over twenty octaves, of both signs, so that nearly every order of summation gives other bits."""
    rng = np.random.default_rng(seed)
    spread = rng.standard_normal(shape) * np.ldexp(1.0, rng.integers(-10, 10, shape))
    return torch.from_numpy(spread.astype(np.float32))


def halved(products: list[np.float32]) -> np.float32:
    """The first half added to the second, until one number is left."""
    while (half := len(products) // 2) > 0:
        products = [x + y for x, y in zip(products[:half], products[half:], strict=True)]
    return products[0]


@pytest.mark.parametrize(("type_", "depth"), [(torch.float32, 64), (torch.bfloat16, 32), (torch.float16, 16)])
def test_a_dot_adds_halves_along_k_and_the_accumulator_last(type_: torch.dtype, depth: int) -> None:
    a, b, c = noise(1, 16, depth).to(type_), noise(2, depth, 16).to(type_), noise(3, 16, 16)
    left, right, added = a.float().numpy(), b.float().numpy(), c.numpy()
    wanted = [
        [halved([left[i, k] * right[k, j] for k in range(depth)]) + added[i, j] for j in range(16)] for i in range(16)
    ]
    assert torch.equal(tiny.dot(a, b, c), torch.tensor(np.array(wanted)))


def test_a_row_has_the_same_bits_at_every_place_of_every_tile() -> None:
    row, b = noise(4, 1, 64), noise(5, 64, 16)
    alone = tiny.dot(torch.cat([row, torch.zeros(15, 64)]), b, torch.zeros(16, 16))[0]
    for rows, place in ((16, 15), (32, 7), (64, 0), (128, 101)):
        tile = noise(rows, rows, 64)
        tile[place] = row
        wide = torch.cat([noise(6, 64, 16), b, noise(7, 64, 32)], dim=1)
        assert torch.equal(tiny.dot(tile, wide, torch.zeros(rows, 64))[place, 16:32], alone)


def test_a_dot_asks_no_blas_for_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*operands: object, **options: object) -> None:
        raise AssertionError("the order of this sum would be the processor's")

    for name in ("matmul", "dot", "einsum", "tensordot", "inner"):
        monkeypatch.setattr(np, name, refused)
    assert tiny.dot(noise(8, 16, 16), noise(9, 16, 16), torch.zeros(16, 16)).isfinite().all()


@pytest.mark.parametrize("name", ROUNDING)
@given(seed=st.integers(0, 2**32 - 1))
def test_elementary_functions_keep_their_error(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    spread = rng.standard_normal(8) * np.ldexp(1.0, rng.integers(-30, 8, 8))
    positive = np.concatenate([np.ldexp(1 + rng.random(4), rng.integers(-1022, 1023, 4)), 1 + spread[:4] / 1024])
    arguments = np.abs(positive) if name.startswith("log") else spread
    with mpmath.workprec(PRECISION):
        for x, found in zip(arguments, getattr(elementary, name)(arguments), strict=True):
            exact = EXACT[name](mpmath.mpf(float(x)))
            if found == np.inf or abs(exact) < np.finfo(np.float64).tiny:
                continue  # beyond fp64: scaling overflows, or rounds once more
            assert abs(mpmath.mpf(float(found)) - exact) <= ROUNDING[name] * abs(exact)


@pytest.mark.parametrize("name", ROUNDING)
def test_elementary_functions_at_the_ends_are_those_of_ieee(name: str) -> None:
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, 1e300, -1e300])
    with np.errstate(all="ignore"):
        found, wanted = getattr(elementary, name)(ends), getattr(np, name)(ends)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    real = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(found[real]), np.signbit(wanted[real]))


@pytest.mark.parametrize("name", ROUNDING)
def test_an_argument_has_the_same_bits_alone_strided_and_in_any_array(name: str) -> None:
    arguments: NDArray[np.float64] = np.random.default_rng(3).uniform(0.01, 9, 67)
    function = getattr(elementary, name)
    whole, strided = function(arguments), function(np.repeat(arguments, 3)[::3])
    alone = np.concatenate([function(arguments[i : i + 1]) for i in range(67)])
    assert whole.tobytes() == strided.tobytes() == alone.tobytes()
