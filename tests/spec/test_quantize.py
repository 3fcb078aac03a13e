"""The meaning of schemes against NumPy twins written from the published formulas, and every declared edge."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvspec.numbers import schemes
from kvspec.numbers.errors import CodeError, ScaleCountError, UndefinedError
from kvspec.numbers.floats import BF16, E4M3FN, E5M2, FP16, FP32, Special, from_bits, rational, round_to
from kvspec.numbers.groups import Extent, groups
from kvspec.numbers.quantize import (
    Scale,
    decode,
    dequantize,
    encode,
    encode_all,
    encode_group,
    given_scale,
    scale_of,
)
from kvspec.numbers.schemes import (
    E4M3,
    E4M3_NAN,
    E5M2_CODES,
    E5M2_INF,
    INT4,
    INT8,
    KIVI_KEY,
    Q4_0,
    Q4_1,
    Q5_0,
    Q8_0,
    SCHEMES,
    UINT4,
    UINT8,
    Division,
    Granularity,
    NonFinite,
    ZeroGroup,
)
from kvspec.refusals import NonFiniteError, Refused, ScaleError, ShapeError

f = np.float32
FLOATS32 = st.floats(width=32, min_value=-(2.0**60), max_value=2.0**60, allow_subnormal=False)
GROUPS32 = st.lists(FLOATS32, min_size=1, max_size=12)
MODEST = st.lists(st.floats(-100, 100, width=32, allow_subnormal=False), min_size=2, max_size=12)
HALVES16 = st.lists(st.floats(-200, 200, width=16, allow_subnormal=False), min_size=2, max_size=12)
TINY = 2.0**-149


@pytest.fixture(scope="module")
def torch():
    """Imported before the first example, which its import would slow down."""
    return pytest.importorskip("torch")


def symmetric_twin(x: np.ndarray, largest: int, division: Division) -> tuple[float, list[int]]:
    a = np.abs(x).max()
    s = a / f(largest)
    if s == 0:
        return 0.0, [0] * len(x)
    with np.errstate(over="ignore"):
        t = {
            Division.DIVIDE: lambda: x / s,
            Division.RECIPROCAL: lambda: x * (f(1) / s),
            Division.INVERSE_FIRST: lambda: x * (f(largest) / a),
        }[division]()
    return float(s), np.clip(np.rint(t), -largest, largest).astype(int).tolist()


@pytest.mark.parametrize("division", [Division.DIVIDE, Division.RECIPROCAL, Division.INVERSE_FIRST])
@pytest.mark.parametrize("base", [INT8, INT4], ids=lambda s: s.name)
@given(values=GROUPS32)
def test_symmetric_codes_are_those_of_numpy(division, base, values):
    scheme = replace(base, division=division, scale_format=FP32)
    expected_scale, expected = symmetric_twin(np.array(values, f), base.divisor, division)
    if 0 < abs(expected_scale) < 2.0**-120:
        return
    scale, codes = encode_group(values, scheme)
    assert (scale.stored, codes) == (Fraction(expected_scale), expected)


@given(values=MODEST)
def test_a_zero_point_is_that_of_numpy(values):
    x = np.array(values, f)
    low, high = min(x.min(), f(0)), max(x.max(), f(0))
    s = (high - low) / f(255)
    if s < 2.0**-120:
        return
    z = np.rint(-low / s)
    scale, codes = encode_group(values, UINT8)
    assert (scale.stored, scale.zero) == (Fraction(float(s)), Fraction(float(z)))
    assert codes == np.clip(np.rint(x / s) + z, 0, 255).astype(int).tolist()


@given(values=MODEST)
def test_q8_0_is_that_of_llama_cpp(values):
    x = np.array(values, f)
    d = np.abs(x).max() / f(127)
    if not np.float16(d):
        return  # a zero group: codes of llama.cpp that multiply a scale of 0 mean nothing
    t = (x * (f(1) / d)).astype(np.float64)
    scale, codes = encode_group(values, Q8_0)
    assert scale.stored == Fraction(float(np.float16(d)))
    assert codes == (np.sign(t) * np.floor(np.abs(t) + 0.5)).astype(int).tolist()


@pytest.mark.parametrize(("scheme", "half"), [(Q4_0, 8), (Q5_0, 16)])
@given(values=MODEST)
def test_q4_0_and_q5_0_are_those_of_llama_cpp(scheme, half, values):
    x = np.array(values, f)
    extreme = x[np.abs(x).argmax()]
    d = extreme / f(-half)
    if not np.float16(d):
        return  # a zero group: codes of llama.cpp that multiply a scale of 0 mean nothing
    stored = np.minimum(2 * half - 1, np.trunc(x * (f(1) / d) + f(half + 0.5)))
    scale, codes = encode_group(values, scheme)
    assert scale.stored == Fraction(float(np.float16(d)))
    assert [code + scheme.codes.bias for code in codes] == stored.astype(int).tolist()


@given(values=MODEST)
def test_q4_1_is_that_of_llama_cpp(values):
    x = np.array(values, f)
    low = x.min()
    d = (x.max() - low) / f(15)
    if not np.float16(d):
        return  # a zero group: codes of llama.cpp that multiply a scale of 0 mean nothing
    scale, codes = encode_group(values, Q4_1)
    assert (scale.stored, scale.zero) == (Fraction(float(np.float16(d))), Fraction(float(np.float16(low))))
    assert codes == np.minimum(15, np.trunc((x - low) * (f(1) / d) + f(0.5))).astype(int).tolist()


@given(values=HALVES16)
def test_kivi_is_its_published_code_in_fp16(values):
    x = np.array(values, np.float16)
    s = (x.max() - x.min()) / np.float16(15)
    if s == 0:
        return
    with np.errstate(over="ignore"):
        codes = np.rint(np.clip((x - x.min()) / s, 0, 15)).astype(int).tolist()
    scale, found = encode_group([float(v) for v in x], KIVI_KEY)
    assert (scale.stored, scale.zero) == (Fraction(float(s)), Fraction(float(x.min())))
    assert found == codes


@pytest.mark.parametrize(
    ("scheme", "dtype"), [(E4M3, "float8_e4m3fn"), (E5M2_INF, "float8_e5m2")], ids=["e4m3", "e5m2"]
)
@given(values=st.lists(FLOATS32, min_size=1, max_size=12), static=st.floats(2.0**-10, 2.0**50, width=32))
def test_fp8_codes_under_a_static_scale_are_those_of_torch(torch, scheme, dtype, values, static):
    quotient = np.array(values, f) / f(static)
    expected = torch.from_numpy(quotient).to(getattr(torch, dtype)).view(torch.uint8).tolist()
    scale = given_scale(static, scheme)
    assert [encode(value, scale, scheme) for value in values] == expected


def test_ml_dtypes_gives_nan_where_the_scheme_says_so():
    one = given_scale(1, E4M3_NAN)
    assert encode(464, one, E4M3_NAN) == 0x7E
    assert encode(465, one, E4M3_NAN) == 0x7F
    assert decode(0x7F, one, E4M3_NAN) is Special.NAN
    assert encode(465, one, E4M3) == 0x7E
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for value in (464.0, 465.0, -1e9):
        with np.errstate(invalid="ignore"):
            pattern = int(f(value).astype(ml_dtypes.float8_e4m3fn).view(np.uint8))
        assert pattern & 0x7F == encode(value, one, E4M3_NAN) & 0x7F


@pytest.mark.parametrize("format", [BF16, FP16], ids=lambda x: x.name)
@given(values=MODEST)
def test_a_narrow_scale_is_rounded_first_and_then_divides(format, values):
    scheme = replace(INT8, scale_format=format)
    scale, codes = encode_group(values, scheme)
    wide = np.abs(np.array(values, f)).max() / f(127)
    narrow = rational(round_to(float(wide), format))
    if not narrow:
        return
    assert scale.stored == narrow
    quotients = np.array(values, f) / f(float(narrow))
    assert codes == np.clip(np.rint(quotients), -127, 127).astype(int).tolist()


def test_a_computed_scale_divides_where_the_scheme_says_so():
    values = [1.0, 0.5009765625]
    stored_first = replace(Q8_0, divides=schemes.Divides.STORED)
    assert scale_of(values, Q8_0).stored == scale_of(values, stored_first).stored
    assert scale_of(values, Q8_0).multiplier != scale_of(values, stored_first).multiplier


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_a_group_of_zeros_stores_scale_zero_and_codes_of_zero(scheme):
    scale, codes = encode_group([0.0, -0.0, 0], scheme)
    assert (scale.stored, codes) == (0, [0, 0, 0])
    assert [decode(code, scale, scheme) for code in codes] == [0, 0, 0]


def test_other_treatments_of_zero_groups():
    one = replace(INT8, zero_group=ZeroGroup.SCALE_ONE)
    assert scale_of([0.0], one) == Scale(Fraction(1), Fraction(0))
    with pytest.raises(ScaleError, match="zero"):
        scale_of([0.0], replace(INT8, zero_group=ZeroGroup.REFUSE))


def test_a_constant_group_is_kept_by_its_minimum():
    scale, codes = encode_group([2.5] * 4, KIVI_KEY)
    assert [decode(code, scale, KIVI_KEY) for code in codes] == [Fraction(5, 2)] * 4


def test_a_scale_that_rounds_to_zero_makes_a_zero_group():
    scale, codes = encode_group([63 * TINY, -TINY], INT8)
    assert (scale.stored, codes) == (0, [0, 0])
    assert scale_of([64 * TINY], INT8).stored == Fraction(TINY)


def test_subnormal_scales_clip():
    scale, codes = encode_group([190 * TINY], INT8)
    assert (scale.stored, codes) == (Fraction(TINY), [127])
    assert 190 * Fraction(TINY) - decode(codes[0], scale, INT8) == 63 * scale.stored


def test_an_infinite_reciprocal_makes_a_zero_group():
    scheme = replace(INT8, division=Division.RECIPROCAL)
    assert encode_group([3e-39], scheme)[1] == [0]
    assert encode_group([3e-39], INT8)[1] == [127]
    least = 2.0**-128 * (1 + 2**-21)
    assert given_scale(least, scheme).multiplier
    with pytest.raises(ScaleError, match="reciprocal"):
        given_scale(2.0**-128, scheme)


def test_the_reciprocal_and_the_quotient_may_give_different_codes():
    scale, values = given_scale(float(f(1.3) / f(127)), INT8), np.linspace(0, 1.3, 2**12, dtype=f)
    reciprocal = replace(INT8, division=Division.RECIPROCAL)
    other = given_scale(scale.stored, reciprocal)
    rounded = [round_to(k * scale.stored + scale.stored / 2, FP32) for k in range(127)]
    both = [(encode(v, scale, INT8), encode(v, other, reciprocal)) for v in (*map(float, values[::64]), *rounded)]
    assert all(abs(one - two) <= 1 for one, two in both)
    assert any(one != two for one, two in both)


def test_exact_division_does_not_round():
    scheme, third = replace(INT8, division=Division.EXACT), Fraction(1, 3)
    scale = given_scale(1, scheme)
    assert encode(Fraction(1, 2) + Fraction(1, 10**40), scale, scheme) == 1
    assert encode(Fraction(1, 2) + Fraction(1, 10**40), given_scale(1, INT8), INT8) == 0
    assert encode(third, scale, scheme) == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), Special.NAN])
def test_non_finite_values_are_refused_by_place(value):
    with pytest.raises(NonFiniteError, match="at index 1 of a group"):
        scale_of([1.0, value], INT8)
    with pytest.raises(NonFiniteError):
        encode(value, given_scale(1, INT8), INT8)


def test_non_finite_values_with_a_code_do_not_join_the_scale():
    scheme = replace(INT8, infinity=NonFinite.SATURATE)
    scale, codes = encode_group([127.0, float("inf"), -float("inf"), 1.0], scheme)
    assert (scale.stored, codes) == (1, [127, 127, -127, 1])
    scale, codes = encode_group([448.0, float("nan"), float("inf"), -float("inf")], E4M3)
    assert (scale.stored, codes) == (1, [0x7E, 0x7F, 0x7E, 0xFE])
    assert encode(float("inf"), given_scale(1, E5M2_CODES), E5M2_CODES) == 0x7B
    assert encode(float("inf"), given_scale(1, E5M2_INF), E5M2_INF) == 0x7C
    assert encode(float("inf"), given_scale(1, E4M3_NAN), E4M3_NAN) == 0x7F


def test_integer_codes_cannot_keep_nan():
    with pytest.raises(NonFiniteError, match="integer code"):
        encode(float("nan"), given_scale(1, INT8), replace(INT8, nan=NonFinite.KEEP))


@pytest.mark.parametrize("scale", [0, float("nan"), float("inf"), Fraction(1, 3)])
def test_static_scales_must_be_storable(scale):
    with pytest.raises(ScaleError, match="nonzero number of fp32"):
        given_scale(scale, INT8)


def test_static_scales_clip():
    scale = given_scale(2, INT8)
    assert encode(1000, scale, INT8) == 127
    assert encode(-1000, scale, INT8) == -127
    assert encode(2.0**127, given_scale(2.0**-20, INT8), INT8) == 127
    assert encode(5, given_scale(1, UINT4, 3), UINT4) == 8
    assert encode(-5, given_scale(1, UINT4, 3), UINT4) == 0


def test_scales_that_overflow_their_format_are_refused():
    with pytest.raises(ScaleError, match="overflows fp16"):
        scale_of([2.0**30], Q8_0)


def test_questions_without_one_answer_are_refused():
    with pytest.raises(UndefinedError, match="no one code"):
        encode(1, given_scale(1, INT8), replace(INT8, division=Division.WITHIN_2_ULP))
    with pytest.raises(UndefinedError, match="no anchor"):
        given_scale(1, replace(INT8, division=Division.INVERSE_FIRST))
    with pytest.raises(CodeError, match="-128"):
        decode(-128, given_scale(1, INT8), INT8)
    with pytest.raises(ScaleError, match="no zero"):
        given_scale(1, UINT8, 0.5)
    with pytest.raises(ShapeError, match="without values"):
        scale_of([], INT8)
    assert issubclass(Refused, ValueError)


def test_wrong_counts_are_refused_before_anything_is_encoded():
    extent, scheme = Extent(2, 2, 4), INT8.per(Granularity.TOKEN_HEAD)
    with pytest.raises(ScaleCountError, match="1 scales for 4 groups"):
        encode_all([1.0] * 16, extent, scheme, [given_scale(1, scheme)])
    with pytest.raises(ShapeError, match="15 values"):
        encode_all([1.0] * 15, extent, scheme)
    with_nan = [1.0] * 6 + [float("nan")] + [1.0] * 9
    for scales in (None, [given_scale(1, scheme)] * 4):
        with pytest.raises(NonFiniteError, match=r"group 1: .*at index 2 of a group"):
            encode_all(with_nan, extent, scheme, scales)


@given(values=st.lists(st.floats(-9, 9, width=32), min_size=32, max_size=32))
def test_a_tensor_is_encoded_group_by_group(values):
    extent = Extent(2, 2, 8)
    for granularity, size in ((Granularity.TENSOR, None), (Granularity.CHANNEL, None), (Granularity.GROUP, 4)):
        scheme = INT8.per(granularity, size)
        scales, codes = encode_all(values, extent, scheme)
        for scale, members in zip(scales, groups(extent, scheme), strict=True):
            own = [values[index] for index in members]
            assert (scale, [codes[index] for index in members]) == encode_group(own, scheme)
        assert encode_all(values, extent, scheme, scales) == (scales, codes)


@pytest.mark.parametrize("scheme", [E4M3, E5M2_CODES], ids=lambda s: s.name)
def test_every_fp8_code_encodes_what_it_decodes(scheme):
    format = E4M3FN if scheme is E4M3 else E5M2
    scale = given_scale(0.75, scheme)
    for code in range(256):
        if isinstance(from_bits(code, format), Fraction):
            assert encode(decode(code, scale, scheme), scale, scheme) == code
    assert encode(-0.0, scale, scheme) == 0x80
    assert decode(0x80, scale, scheme) is Special.NEGATIVE_ZERO


@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if "e" not in scheme.name[:1]])
def test_every_integer_code_of_a_scale_encodes_what_it_decodes(name):
    scheme = SCHEMES[name]
    scale = given_scale(0.75, scheme, 3 if scheme.zero is not schemes.Zero.SYMMETRIC else 0)
    for code in range(scheme.codes.lowest, scheme.codes.highest + 1):
        assert encode(decode(code, scale, scheme), scale, scheme) == code


@given(values=MODEST)
def test_dequantizing_rounds_the_product_then_casts(values):
    scale, codes = encode_group(values, INT8)
    products = np.array(codes, f) * f(float(scale.stored))
    assert [rational(dequantize(code, scale, INT8)) for code in codes] == [Fraction(float(p)) for p in products]
    halves = products.astype(np.float16)
    assert [rational(dequantize(c, scale, INT8, FP16)) for c in codes] == [Fraction(float(h)) for h in halves]
    scale, codes = encode_group(values, Q4_1)
    sums = np.array(codes, f) * f(float(scale.stored)) + f(float(scale.zero))
    assert [rational(dequantize(code, scale, Q4_1)) for code in codes] == [Fraction(float(p)) for p in sums]


def test_a_sum_is_rounded_before_it_is_cast():
    """1 + 2**-8 + 2**-24 is a tie in fp32, and its even neighbour 1 + 2**-8 is a tie in bf16."""
    scale = given_scale(2.0**-24, Q4_1, 1 + 2.0**-8)
    assert decode(1, scale, Q4_1) == Fraction(1 + 2.0**-8 + 2.0**-24)
    assert dequantize(1, scale, Q4_1, BF16) == 1
    assert round_to(decode(1, scale, Q4_1), BF16) == Fraction(1 + 2.0**-7)


def test_names_say_scheme_and_granularity():
    assert SCHEMES["int8/token-head"] == replace(INT8.per(Granularity.TOKEN_HEAD))
    assert SCHEMES["int4/group-32"].group_size == 32
    assert all(name == scheme.name for name, scheme in SCHEMES.items())
