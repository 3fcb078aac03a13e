"""Specification and NumPy reference: equal codes and scales, on a share of what the command tries in full."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kvconformance.evidence import codes
from kvreference import quantizers
from kvspec.numbers.floats import FP32, power_of_two
from kvspec.numbers.quantize import encode, scale_of
from kvspec.numbers.schemes import INT8, SCHEMES, UINT8, Division, NonFinite, Scheme


@pytest.mark.parametrize("format", codes.FORMATS)
@pytest.mark.parametrize("scheme", codes.bases(), ids=lambda scheme: scheme.name)
def test_every_input_under_a_share_of_all_anchors(scheme: Scheme, format: str) -> None:
    found = codes.every_input(format, scheme, every=32 if format == "bf16" else 512)
    assert found.values > 50_000
    assert not found.differences, found.differences[0]


@pytest.mark.parametrize("name", list(SCHEMES))
def test_fp32_numbers_next_to_midpoints_through_whole_arrays(name: str) -> None:
    found = codes.adversaries(SCHEMES[name], 7, 1)
    assert not found.differences, found.differences[0]


@pytest.mark.parametrize("name", ["int8/tensor", "e4m3/tensor", "e4m3-nan/tensor", "e5m2/tensor", "e5m2-inf/tensor"])
def test_special_values_and_meanings(name: str) -> None:
    assert not codes.specials(SCHEMES[name]).differences


OTHERS = (
    replace(UINT8, name="uint8-reciprocal", division=Division.RECIPROCAL),
    replace(UINT8, name="uint8-exact", division=Division.EXACT),
    replace(INT8, name="int8-inverse", division=Division.INVERSE_FIRST),
    replace(INT8, name="int8-half", divisor=Fraction(255, 2)),
    replace(INT8, name="int8-floored", floor=power_of_two(FP32.emin)),
)


@pytest.mark.parametrize("scheme", OTHERS, ids=lambda scheme: scheme.name)
def test_forms_that_no_named_scheme_has(scheme: Scheme) -> None:
    found = codes.adversaries(scheme, 3, 12)
    assert found.values and not found.differences, found.differences


def test_infinity_is_kept_as_nan_where_the_format_has_none() -> None:
    scheme = replace(SCHEMES["e4m3/tensor"], infinity=NonFinite.KEEP)
    assert not codes.specials(scheme).differences
    assert encode(float("inf"), scale_of([1.0], scheme), scheme) == 0x7F


def test_a_scale_that_is_stored_as_zero_makes_a_zero_group_in_both() -> None:
    found, x = codes.Compared(), np.full((1, 1, 32), 1e-9, np.float32)
    for name in ("q8_0", "q4_0", "q5_0", "q4_1"):
        codes.compare_array(x, SCHEMES[name], found)
        assert not quantizers.encode(x, SCHEMES[name]).codes.any()
    assert found.scales == 4 and not found.differences


def test_a_zero_point_rounds_the_rounded_quotient() -> None:
    x = np.array([[[-1.5, 1.5]]], np.float32)
    encoded = quantizers.encode(x, SCHEMES["uint8/tensor"])
    assert encoded.scales.zero is not None
    assert (encoded.scales.zero.item(), encoded.codes.ravel().tolist()) == (128.0, [0, 255])
