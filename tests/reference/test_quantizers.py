"""Quantizers against a scalar oracle in exact rationals, every 16-bit input against tables, and named refusals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from kvreference.float_codes import E4M3FN, E5M2, FloatCodes, decode_float, encode_float
from kvreference.quantizers import Encoded, Scales, decode, encode, encode_with, scale_shape
from kvreference.roundings import BF16, FORMATS, FP16, round_to
from kvspec.numbers.schemes import SCHEMES, NonFinite, Scheme, ZeroGroup
from kvspec.refusals import DtypeError, NonFiniteError, Refused, ScaleError, ShapeError

RNG = np.random.default_rng(0)
CLIPPED = {"int8": 127, "int4": 7}


def exactly_rounded(x: Fraction, precision: int, emin: int) -> Fraction:
    """Round to nearest even by comparing neighbours, in rationals."""
    if x == 0:
        return x
    exponent = emin
    while abs(x) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - precision + 1)
    return round(x / step) * step


def fl(x: Fraction, name: str) -> Fraction:
    return exactly_rounded(x, FORMATS[name].precision, FORMATS[name].emin)


def half_away(t: Fraction) -> int:
    return floor(abs(t) + Fraction(1, 2)) * (1 if t >= 0 else -1)


def oracle(group: list[Fraction], name: str) -> tuple[list[int], Fraction, Fraction | None]:
    """Codes, stored scale and stored zero of one group, each scheme written out by hand."""
    top = max(abs(x) for x in group)
    if name in ("int8/token-head", "int4/token-head"):
        q = CLIPPED[name[:4]]
        s = fl(fl(top / q, "fp32"), "fp32" if q == 127 else "fp16")
        return [max(-q, min(q, round(fl(x / s, "fp32")))) for x in group], s, None
    if name == "q8_0":
        d = fl(top / 127, "fp32")
        inverse = fl(1 / d, "fp32")
        return [half_away(fl(x * inverse, "fp32")) for x in group], fl(d, "fp16"), None
    if name == "q4_0":
        d = fl(next(x for x in group if abs(x) == top) / -8, "fp32")
        inverse = fl(1 / d, "fp32")
        codes = [min(15, int(fl(fl(x * inverse, "fp32") + Fraction(17, 2), "fp32"))) - 8 for x in group]
        return codes, fl(d, "fp16"), None
    if name == "q4_1":
        low = min(group)
        d = fl(fl(max(group) - low, "fp32") / 15, "fp32")
        inverse = fl(1 / d, "fp32")
        quotients = [fl(fl(x - low, "fp32") * inverse, "fp32") for x in group]
        return [min(15, int(fl(t + Fraction(1, 2), "fp32"))) for t in quotients], fl(d, "fp16"), fl(low, "fp16")
    if name == "kivi-value":
        low = min(group)
        s = fl(fl(max(group) - low, "fp16") / 15, "fp16")
        return [max(0, min(15, round(fl(fl(x - low, "fp16") / s, "fp16")))) for x in group], s, low
    low, high = min(*group, 0), max(*group, 0)
    s = fl(fl(high - low, "fp32") / 255, "fp32")
    z = round(-low / s)
    return [max(0, min(255, round(fl(x / s, "fp32")) + z)) for x in group], s, Fraction(z)


@pytest.mark.parametrize(
    "name", ["int8/token-head", "int4/token-head", "uint8/token-head", "q8_0", "q4_0", "q4_1", "kivi-value"]
)
def test_codes_and_scales_equal_a_scalar_oracle_in_rationals(name: str) -> None:
    scheme = SCHEMES[name]
    x = (RNG.standard_normal((12, 1, 32)) * 10 ** RNG.uniform(-3, 3, (12, 1, 1))).astype(np.float16)
    x[0], x[1] = np.abs(x[0]), -np.abs(x[1])
    found = encode(x, scheme)
    for token in range(len(x)):
        codes, scale, zero = oracle([Fraction(float(v)) for v in x[token, 0]], name)
        assert found.codes[token, 0].tolist() == codes
        assert Fraction(float(found.scales.scale[token, 0, 0])) == scale
        if zero is not None:
            assert Fraction(float(found.scales.zero[token, 0, 0])) == zero


@pytest.mark.parametrize("kind", [E4M3FN, E5M2], ids=["e4m3fn", "e5m2"])
def test_float_codes_of_every_16_bit_number_are_the_nearest(kind: FloatCodes) -> None:
    bits = np.arange(2**16, dtype=np.uint32)
    for x in ((bits << 16).view(np.float32), bits.astype(np.uint16).view(np.float16).astype(np.float32)):
        finite = x[np.isfinite(x)]
        codes = np.arange(kind.largest + 1, dtype=np.uint8)
        numbers = decode_float(codes, kind)
        middles = (numbers[1:] + numbers[:-1]) / 2
        below = np.searchsorted(middles, np.abs(finite).astype(np.float64), side="left")
        tie = np.isin(np.abs(finite), middles)
        expected = np.where(tie & (below % 2 == 1), below + 1, below) | np.where(np.signbit(finite), 0x80, 0)
        assert (encode_float(finite, kind, saturate=True) == expected).all()


def test_saturation_is_part_of_the_scheme() -> None:
    x = np.array([448, 464, 464.01, 1e30, np.inf, -np.inf, np.nan], np.float32)
    assert encode_float(x, E4M3FN, saturate=True).tolist() == [0x7E, 0x7E, 0x7E, 0x7E, 0x7F, 0xFF, 0x7F]
    assert encode_float(x, E4M3FN, saturate=False).tolist() == [0x7E, 0x7E, 0x7F, 0x7F, 0x7F, 0xFF, 0x7F]
    x = np.array([57344, 61439, 61440, np.inf], np.float32)
    assert encode_float(x, E5M2, saturate=True).tolist() == [0x7B, 0x7B, 0x7B, 0x7C]
    assert encode_float(x, E5M2, saturate=False).tolist() == [0x7B, 0x7B, 0x7C, 0x7C]


@pytest.mark.parametrize("name", ["e4m3fn", "e5m2", "bf16", "fp16"])
def test_round_to_is_exact(name: str) -> None:
    target = FORMATS[name]
    x = RNG.standard_normal(2000) * 10.0 ** RNG.integers(-9, 3, 2000)
    x[:3] = 0.0, target.smallest / 2, target.smallest * 1.5
    expected = [exactly_rounded(Fraction(v), target.precision, target.emin) for v in x]
    assert [Fraction(v) for v in round_to(x, target)] == expected
    assert round_to(np.array([-1e300, np.nan]), target)[0] == -np.inf


@pytest.mark.parametrize("name", list(SCHEMES))
def test_every_scheme_encodes_and_decodes_in_its_granularity(name: str) -> None:
    scheme = SCHEMES[name]
    x = RNG.standard_normal((64, 2, 64)).astype(np.float32)
    found = encode(x, scheme)
    assert found.codes.shape == x.shape
    assert found.scales.scale.shape == scale_shape(x.shape, scheme)
    assert (encode(decode(found, scheme).astype(np.float32), scheme).codes.shape) == x.shape
    if scheme.division.name == "DIVIDE":
        assert (encode_with(x, found.scales, scheme) == found.codes).all()


def test_a_group_never_sees_another_group() -> None:
    for name in ("int8/token-head", "int8/head", "int8/channel", "int8/group-32", "kivi-key"):
        scheme = SCHEMES[name]
        x = RNG.standard_normal((32, 2, 64)).astype(np.float32)
        alone = encode(np.ascontiguousarray(x[:, :1]), scheme)
        x[:, 1] *= 1000
        both = encode(x, scheme)
        assert (both.codes[:, :1] == alone.codes).all()
        assert (both.scales.scale[:, :1] == alone.scales.scale).all()


@pytest.mark.parametrize("name", ["int8/token-head", "int4/group-32"])
def test_error_is_within_half_a_step_and_the_rounding_of_the_quotient(name: str) -> None:
    scheme = SCHEMES[name]
    largest = CLIPPED[name[:4]]
    kappa = 2.0 ** (np.floor(np.log2(largest)) - 24)
    x = RNG.standard_normal((500, 1, 128)).astype(np.float32)
    found = encode(x, scheme)
    size = scheme.group_size or 128
    step = np.repeat(found.scales.scale.astype(np.float64), size, axis=2)
    error = np.abs(x - decode(found, scheme))
    assert (error <= np.maximum(step * (0.5 + kappa), np.abs(x) - largest * step)).all()


def test_plain_half_a_step_is_not_a_bound() -> None:
    a = np.float32(1.8671875)
    found = encode(np.array([[[a, a / 2]]], np.float32), SCHEMES["int8/tensor"])
    error = np.abs(a / 2 - decode(found, SCHEMES["int8/tensor"])[0, 0, 1])
    assert error > float(found.scales.scale[0, 0, 0]) / 2


def test_a_zero_group_stores_what_its_scheme_says() -> None:
    scheme, x = SCHEMES["int8/token-head"], np.zeros((2, 1, 32), np.float32)
    x[1] = 1e-46
    found = encode(x, scheme)
    assert not found.codes.any()
    assert found.scales.scale.ravel().tolist() == [0.0, 0.0]
    one = replace(scheme, zero_group=ZeroGroup.SCALE_ONE)
    assert encode(x, one).scales.scale.ravel().tolist() == [1.0, 1.0]
    with pytest.raises(ScaleError):
        encode(x, replace(scheme, zero_group=ZeroGroup.REFUSE))


def test_a_scale_without_reciprocal_is_a_zero_group_only_where_it_is_needed() -> None:
    x = np.full((1, 1, 32), 3e-39, np.float32)
    assert not encode(x, replace(SCHEMES["q8_0"], scale_format=SCHEMES["int8/tensor"].scale_format)).codes.any()
    assert encode(x, SCHEMES["int8/token-head"]).codes.all()


def test_subnormal_scales_clip() -> None:
    x = np.array([[[190, 0]]], np.float32) * np.float32(2.0**-149)
    found = encode(x, SCHEMES["int8/tensor"])
    step = float(found.scales.scale[0, 0, 0])
    assert found.codes[0, 0, 0] == 127
    assert 190 * 2.0**-149 - 127 * step == 63 * step


def test_constant_rows_with_a_minimum_decode_to_the_minimum() -> None:
    x = np.full((1, 1, 32), 5.25, np.float32)
    assert (decode(encode(x, SCHEMES["q4_1"]), SCHEMES["q4_1"]) == 5.25).all()


def test_nan_and_infinity_do_not_join_the_scale_of_a_scheme_that_takes_them() -> None:
    scheme = SCHEMES["e4m3/token-head"]
    x = np.full((1, 1, 4), 448, np.float32)
    x[0, 0, 1:] = np.nan, np.inf, -np.inf
    found = encode(x, scheme)
    assert found.scales.scale.ravel().tolist() == [1.0]
    assert found.codes[0, 0, [0, 2, 3]].tolist() == [0x7E, 0x7E, 0xFE]
    assert np.isnan(decode(found, scheme)[0, 0, 1])
    kept = encode(x, replace(scheme, infinity=NonFinite.KEEP))
    assert np.isnan(decode(kept, scheme)[0, 0, 2])


def test_values_beyond_a_fixed_scale_saturate() -> None:
    one = Scales(np.ones((1, 1, 1), np.float32))
    x = np.array([[[1000, -1000, 0.6]]], np.float32)
    assert encode_with(x, one, SCHEMES["int8/tensor"])[0, 0].tolist() == [127, -127, 1]
    assert decode(Encoded(encode_with(x, one, SCHEMES["e4m3/tensor"]), one), SCHEMES["e4m3/tensor"])[0, 0, 0] == 448


X = np.ones((4, 2, 64), np.float32)
REFUSED = {
    "two axes": (ShapeError, lambda: encode(X[0], SCHEMES["int8/tensor"])),
    "no elements": (ShapeError, lambda: encode(X[:0], SCHEMES["int8/tensor"])),
    "half a group": (ShapeError, lambda: encode(X[..., :48], SCHEMES["int8/group-32"])),
    "half a group of tokens": (ShapeError, lambda: encode(X, SCHEMES["kivi-key"])),
    "float64": (DtypeError, lambda: encode(X.astype(np.float64), SCHEMES["int8/tensor"])),
    "integers": (DtypeError, lambda: encode(X.astype(np.int8), SCHEMES["int8/tensor"])),
    "NaN": (NonFiniteError, lambda: encode(X * np.float32(np.nan), SCHEMES["int8/tensor"])),
    "scale per head for a tensor": (
        ScaleError,
        lambda: encode_with(X, Scales(np.ones((1, 2, 1), np.float32)), SCHEMES["int8/tensor"]),
    ),
    "negative scale": (
        ScaleError,
        lambda: encode_with(X, Scales(-np.ones((1, 1, 1), np.float32)), SCHEMES["int8/tensor"]),
    ),
    "missing zero": (
        ScaleError,
        lambda: encode_with(X, Scales(np.ones((1, 1, 1), np.float32)), SCHEMES["uint8/tensor"]),
    ),
    "scale beyond fp16": (ScaleError, lambda: encode(X * np.float32(1e30), SCHEMES["int4/tensor"])),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_bad_input_is_refused_by_name(name: str) -> None:
    error, act = REFUSED[name]
    with pytest.raises(error) as caught:
        act()
    assert isinstance(caught.value, Refused)


def test_bf16_and_fp16_inputs_are_taken_as_they_are() -> None:
    scheme: Scheme = SCHEMES["int8/token-head"]
    x = RNG.standard_normal((8, 2, 64))
    half = round_to(x, FP16).astype(np.float16)
    assert (encode(half, scheme).codes == encode(half.astype(np.float32), scheme).codes).all()
    narrow = round_to(x, BF16).astype(np.float32)
    assert (encode(narrow, scheme).codes == encode(np.asfortranarray(narrow), scheme).codes).all()
