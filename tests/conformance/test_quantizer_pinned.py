"""Histories that once made the Quantizer surface fail, with the right answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kvconformance.adapters import load
from kvconformance.engines.reference_quantizer import ReferenceQuantizer
from kvconformance.history import History
from kvconformance.search.trial import play
from kvconformance.surfaces.quantizer import SURFACE, Array, Declaration, Encoded, Single
from kvconformance.surfaces.quantizer.operations import Append, Encode, Values
from kvconformance.surfaces.quantizer.rotations import Turned
from kvspec import Tally
from kvspec.numbers.schemes import SCHEMES
from kvspec.rules import ONE_SCALE
from kvspec.violation import Violation
from kvspec.vocabulary import Surface

QUANTUM = 2.0**-149
"""The smallest fp32 number: beside it no scale is exact."""


def turned(row: list[float], scheme: str, angle: float = 0.0) -> Turned:
    """One row `[1, head_dim]` whose pairs are turned by an angle, each by the same."""
    half = np.ones(len(row) // 2, np.float32)
    cosine, sine = half * np.float32(np.cos(angle)), half * np.float32(np.sin(angle))
    return Turned(np.array([row], np.float32), cosine, sine, SCHEMES[scheme])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 3.4e38])
@pytest.mark.filterwarnings("error")
def test_a_row_that_is_not_finite_after_a_rotation_is_not_judged(bad: float) -> None:
    assert not turned([bad, bad], "e4m3/token-head", np.pi / 4).beyond(np.zeros((1, 2)))
    assert not turned([bad, bad], "e4m3/token-head", np.pi / 4).may_be_refused()
    assert turned([bad, bad], "int8/token-head", np.pi / 4).may_be_refused()


def test_a_turned_row_may_clip_under_a_subnormal_scale_that_was_rounded_down() -> None:
    """190 quanta / 127 round to a scale of 1, and 191 / 127, which fp32 may have computed as well, to 2."""
    row = turned([190 * QUANTUM, 0.0], "int8/token-head")
    for read in (127, 190, 192):
        assert not row.beyond(np.array([[read * QUANTUM, 0.0]]))
    assert row.beyond(np.array([[120 * QUANTUM, 0.0]]))
    assert row.beyond(np.array([[260 * QUANTUM, 0.0]]))


def test_a_turned_row_that_is_ordinary_is_held_to_half_a_step() -> None:
    row = turned([1.0, 0.25], "int8/token-head")
    assert not row.beyond(np.array([[1.0, 0.25 + 0.499 / 127]]))
    assert row.beyond(np.array([[1.0, 0.25 + 0.501 / 127]])).keys() == {1}


def test_a_turned_row_may_overflow_only_where_its_scheme_says_so() -> None:
    """668 quanta / 448 round to a scale of 1, and 668 is past 464: NaN, or 448 where codes saturate."""
    nan, saturated = np.array([[np.nan, 0.0]]), np.array([[448 * QUANTUM, 0.0]])
    assert not turned([668 * QUANTUM, 0.0], "e4m3-nan/token-head").beyond(nan)
    assert not turned([668 * QUANTUM, 0.0], "e4m3/token-head").beyond(saturated)
    assert turned([668 * QUANTUM, 0.0], "e4m3/token-head").beyond(nan)
    assert turned([668.0, 0.0], "e4m3-nan/token-head").beyond(nan)


def test_the_sign_of_a_signed_scale_is_open_where_the_extremes_are_nearly_opposite() -> None:
    """q4_0: the larger of 8 and -8 gets the code -8, the other only 7, and fp32 may make either the larger."""
    row = turned([8.0, -8.0] + [0.0] * 30, "q4_0", 2 * np.pi)
    for pair in ([8.0, -7.0], [7.0, -8.0]):
        assert not row.beyond(np.array([pair + [0.0] * 30]))
    assert row.beyond(np.array([[6.4, -8.0] + [0.0] * 30]))


class Fp32(ReferenceQuantizer):
    """The reference, reading as fp32 does: a product past its largest number is infinite."""

    capabilities = replace(
        ReferenceQuantizer.capabilities,
        schemes={name: Declaration(SCHEMES[name]) for name in ("int8/token-head", "uint8/tensor")},
    )

    def decode(self, encoded: Encoded) -> Array:
        with np.errstate(over="ignore"):
            return super().decode(encoded).astype(np.float32)


class Hidden(ReferenceQuantizer):
    """The reference, showing neither codes nor scales."""

    capabilities = replace(ReferenceQuantizer.capabilities, shows=False)

    def encode(self, x: Single) -> Encoded:
        return Encoded(handle=super().encode(x))

    def decode(self, encoded: Encoded) -> Array:
        return super().decode(encoded.handle)


def first_violation(adapter: Any, scheme: str, *operations: Any) -> Violation | None:
    options = {"scheme": scheme, "kv_heads": 1, "head_dim": 2}
    history = History(2, 2, operations, max_running=1, options=options)
    return play(adapter, adapter.capabilities, Surface.QUANTIZER, history, Tally()).violation


def test_a_code_times_a_scale_past_fp32_is_read_as_infinity() -> None:
    """The largest fp32 number / 127 is rounded up to a scale, so 127 scales are past it by more than half a step."""
    largest = Values("outlier", 2, exponent=125)
    assert first_violation(Fp32, "int8/token-head", Encode(largest)) is None
    broken = first_violation(InfinityForAll, "int8/token-head", Encode(Values("outlier", 2)))
    assert broken is not None
    assert broken.rule is ONE_SCALE


class InfinityForAll(Fp32):
    """Everything is read as infinity."""

    def decode(self, encoded: Encoded) -> Array:
        return np.full_like(super().decode(encoded), np.inf)


def test_an_overflow_that_the_scheme_calls_nan_is_not_held_against_codes_that_are_not_shown() -> None:
    assert first_violation(Hidden, "e4m3-nan/token-head", Encode(Values(seed=10, exponent=-140))) is None
    assert first_violation(ReferenceQuantizer, "e4m3-nan/token-head", Encode(Values(seed=10, exponent=-140))) is None


@pytest.mark.parametrize("scheme", ["e4m3/token-head", "e4m3-nan/token-head", "e5m2/head", "e5m2-inf/token-head"])
def test_nan_and_infinity_are_read_as_the_scheme_says_where_codes_are_not_shown(scheme: str) -> None:
    class ReadsZero(Hidden):
        def decode(self, encoded: Encoded) -> Array:
            right = super().decode(encoded)
            return np.where(np.isnan(right), 0, right)

    special = [Encode(Values("special", 3, seed)) for seed in range(6)]
    assert first_violation(Hidden, scheme, *special) is None
    broken = first_violation(ReadsZero, scheme, *special)
    assert broken is not None
    assert "expected nan" in str(broken)


def test_a_chunk_that_has_no_scale_together_with_what_is_held_is_not_appended() -> None:
    """From -2**110 to the largest fp32 number it is more than fp32 can hold, so a range of both may be refused."""
    chunks = [Append(Values("edges", 2, exponent=110, at=8)), Append(Values("far", seed=1, exponent=126))]
    assert first_violation(Fp32, "uint8/tensor", *chunks) is None


@pytest.mark.parametrize(
    "history",
    [
        # The scheme calls an overflow NaN, and a subnormal scale rounded down makes the largest value overflow.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Append","values":{"seed":10,"exponent":-140}}],
        "max_running":1,"options":{"scheme":"e4m3-nan/token-head","kv_heads":1,"head_dim":2}}""",
        # Two sequences of one cache may each have a scale of their own, and clip under it.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Append","values":{"seed":1,"exponent":-140}}],
        "max_running":2,"options":{"scheme":"int8/tensor","kv_heads":1,"head_dim":2}}""",
        # The largest fp32 number, quantized to the nearest code, reads as a product that rounds to infinity.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Append","values":{"pattern":"rising","tokens":5,
        "exponent":100}}],"max_running":3,"options":{"scheme":"int8/group-32","kv_heads":1,"head_dim":32}}""",
        # A row that a rotation makes larger needs a scale that fp16 does not have, and may be refused.
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Put","values":{"pattern":"far","exponent":17}},
        {"type":"Rotate","turns":2}],"max_running":1,"options":{"scheme":"uint4/group-32","kv_heads":1,"head_dim":32}}""",
        # Codes without saturation, and a scale rounded down: the largest number of a turned row may be past the last.
        """{"num_blocks":2,"block_size":1,"operations":[{"type":"Put","values":{"pattern":"constant","seed":837223,
        "exponent":-138,"at":8}},{"type":"Rotate"}],"max_running":3,"options":{"scheme":"e4m3-nan/token-head",
        "kv_heads":1,"head_dim":32}}""",
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Put","values":{"pattern":"midpoints","tokens":3,
        "seed":84938,"exponent":-149,"at":8},"start":7},{"type":"Rotate","turns":5}],"max_running":1,
        "options":{"scheme":"e5m2-inf/token-head","kv_heads":2,"head_dim":8}}""",
        # The computed row may have another subnormal scale than the wanted one, and clip under it.
        """{"num_blocks":3,"block_size":3,"operations":[{"type":"Put","values":{"pattern":"midpoints","tokens":5,
        "seed":674934,"exponent":-143,"at":7},"start":6},{"type":"Rotate","turns":5}],"max_running":2,
        "options":{"scheme":"int8/token-head","kv_heads":1,"head_dim":2}}""",
        """{"num_blocks":2,"block_size":2,"operations":[{"type":"Put","values":{"pattern":"constant","seed":992712,
        "exponent":-123,"at":3},"start":3},{"type":"Rotate","turns":5},{"type":"Rotate","turns":5}],"max_running":2,
        "options":{"scheme":"uint8/token-head","kv_heads":1,"head_dim":32}}""",
    ],
    ids=[
        "an overflow that the scheme calls NaN",
        "a scale for each sequence",
        "a product past fp32",
        "a refusal after a turn",
        "a turned row past the last code of e4m3",
        "a turned row past the last code of e5m2",
        "a turned row that clips",
        "a turned row that clips at its zero point",
    ],
)
def test_a_right_quantizer_is_not_accused(history: str) -> None:
    engine = load("reference")
    trial = play(
        engine.factories[Surface.QUANTIZER],
        engine.capabilities(Surface.QUANTIZER),
        Surface.QUANTIZER,
        SURFACE.read(history),
        Tally(),
    )
    assert trial.violation is None, trial.violation
