"""Bounds: never exceeded, nearly attained, and false where a simpler statement is made."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kvexamine.proofs import exhaustive
from kvspec.numbers.bounds import (
    allowed_codes,
    bound,
    dequantized_bound,
    fp8_theorem,
    kappa,
    kappa_of,
    minimum_stored_narrow,
    rounding_hides,
    rounding_term,
    scale_stored_narrow,
    theorem_q,
    zero_point_steps,
)
from kvspec.numbers.errors import UndefinedError
from kvspec.numbers.floats import BF16, FP16, FP32, Overflow, rational, round_to, ulp
from kvspec.numbers.quantize import decode, dequantize, encode, encode_group, given_scale, scale_of
from kvspec.numbers.schemes import (
    E4M3,
    E4M3_NAN,
    E5M2_CODES,
    INT4,
    INT8,
    KIVI_KEY,
    KIVI_VALUE,
    Q4_0,
    Q4_1,
    Q5_0,
    Q8_0,
    SCHEMES,
    UINT4,
    UINT8,
    Division,
    Zero,
)

HALF = Fraction(1, 2)
ONE_FUNCTION = [Division.EXACT, Division.DIVIDE, Division.RECIPROCAL, Division.INVERSE_FIRST]
FINE_INT4 = replace(INT4, scale_format=FP32)
HALVES16 = st.floats(-500, 500, width=16)
FLOATS32 = st.floats(-500, 500, width=32)
POSITIVE32 = st.floats(2.0**-60, 2.0**60, width=32)


def two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def error(value, scale, scheme) -> Fraction:
    return abs(rational(value) - rational(decode(encode(value, scale, scheme), scale, scheme)))


def near_midpoints(scale: Fraction, count: int, step: int = 1):
    """fp32 numbers at and next to (k + 1/2) scale, k < count, every `step`-th k and the last."""
    for k in (*range(0, count - 1, step), count - 1):
        middle = rational(round_to((k + HALF) * scale, FP32))
        yield from (middle, middle - ulp(middle, FP32), middle + ulp(middle, FP32))


@pytest.mark.parametrize(
    ("levels", "division", "arithmetic", "expected"),
    [
        (127, Division.DIVIDE, FP32, two(-18)),
        (7, Division.DIVIDE, FP32, two(-22)),
        (255, Division.DIVIDE, FP32, two(-17)),
        (15, Division.DIVIDE, FP16, two(-8)),
        (8, Division.DIVIDE, FP32, two(-22)),
        (127, Division.RECIPROCAL, FP32, two(-18) + 127 * two(-24) * (1 + two(-23))),
        (127, Division.INVERSE_FIRST, FP32, two(-18) + 254 * two(-24)),
        (127, Division.WITHIN_2_ULP, FP32, two(-16)),
        (127, Division.EXACT, FP32, 0),
    ],
)
def test_kappa_has_its_published_values(levels, division, arithmetic, expected):
    assert kappa(levels, division, arithmetic) == expected


def test_half_a_scale_is_exceeded_by_a_bf16_pair():
    a = 1.8671875
    assert round_to(a, BF16) == round_to(a / 2, BF16) * 2 == Fraction(a)
    scale = scale_of([a], INT8)
    found = error(a / 2, scale, INT8)
    assert found > scale.stored / 2
    assert round(float(found / (scale.stored / 2) - 1) * 1e6, 1) == 3.8
    assert found <= theorem_q(Fraction(a / 2), scale.stored, INT8)


def test_a_subnormal_scale_costs_63_scales():
    a = 190 * two(-149)
    scale = scale_of([a], INT8)
    assert error(a, scale, INT8) == 63 * scale.stored == theorem_q(a, scale.stored, INT8) == bound(a, scale, INT8)


@pytest.mark.parametrize(("scheme", "largest"), [(INT8, 127), (FINE_INT4, 7)], ids=["int8", "int4"])
def test_kappa_is_approached_as_closely_as_fp32_allows_and_never_attained(scheme, largest):
    """Q = 127: s = (127 * 2**17 + 1) 2**-23 puts x one unit short of a tie of the quotient's own rounding."""
    steps = largest << (17 if largest == 127 else 21)
    scale = given_scale(Fraction(steps + 1, 2**23), scheme)
    shares = []
    for k in range(largest):
        middle = (k + HALF) * scale.stored
        for x in (middle - scale.stored * kappa_of(scheme), middle + scale.stored * kappa_of(scheme)):
            for value in (rational(round_to(x, FP32)), *near(rational(round_to(x, FP32)))):
                shares.append((error(value, scale, scheme) / scale.stored - HALF) / kappa_of(scheme))
    assert 1 - two(-22) < max(shares) < 1


def near(value: Fraction) -> list[Fraction]:
    return [value - ulp(value, FP32), value + ulp(value, FP32)]


def test_an_absmax_scale_approaches_kappa_too():
    a = 252.01564025878906
    scale = scale_of([a], INT8)
    shares = [(error(x, scale, INT8) / scale.stored - HALF) / kappa_of(INT8) for x in near_midpoints(scale.stored, 127)]
    assert 1 - two(-22) < max(shares) < 1


@pytest.mark.parametrize("division", ONE_FUNCTION)
@pytest.mark.parametrize("base", [INT8, FINE_INT4], ids=["int8", "int4"])
@given(anchor=POSITIVE32, static=st.booleans(), beyond=st.floats(1, 9, width=32))
def test_theorem_q_holds_next_to_every_midpoint(base, division, anchor, static, beyond):
    scheme = replace(base, division=division)
    if static and division is not Division.INVERSE_FIRST:
        scale = given_scale(anchor, scheme)
    else:
        scale = scale_of([anchor], scheme)
        beyond = 1.0
    values = list(near_midpoints(scale.stored, scheme.divisor, 2 if scheme.divisor == 7 else 31))
    for value in values + near(values[-1] * Fraction(beyond)):
        found = error(value, scale, scheme)
        assert found <= theorem_q(value, scale.stored, scheme)
        assert found <= bound(value, scale, scheme) <= theorem_q(value, scale.stored, scheme)


@pytest.mark.parametrize("name", [name for name in SCHEMES if "/" not in name or name.endswith("/tensor")])
@given(data=st.data())
def test_the_bound_of_a_group_is_never_exceeded(name, data):
    scheme = SCHEMES[name]
    values = data.draw(st.lists(HALVES16 if scheme.arithmetic is FP16 else FLOATS32, min_size=1, max_size=6))
    if scheme.overflow is not Overflow.SATURATE:
        assume(max(map(abs, values)) > 2.0**-100)
    scale, codes = encode_group(values, scheme)
    for value, code in zip(values, codes, strict=True):
        assert abs(Fraction(value) - rational(decode(code, scale, scheme))) <= bound(value, scale, scheme)


@pytest.mark.parametrize("scheme", [INT8, UINT8, E4M3, E5M2_CODES, Q8_0, Q4_0, Q4_1], ids=lambda s: s.name)
@given(value=FLOATS32, static=st.floats(2.0**-14, 2.0, width=16), zero=st.integers(0, 255))
def test_the_bound_of_a_static_scale_covers_clipping(scheme, value, static, zero):
    scale = given_scale(static, scheme, 0 if scheme.zero is Zero.SYMMETRIC else zero)
    assert error(value, scale, scheme) <= bound(value, scale, scheme)


def test_half_a_scale_is_exceeded_with_an_integer_zero_point():
    low, high = -1.9728490114212036, 0.4516162872314453
    scale = scale_of([low, high], UINT8)
    assert HALF * scale.stored < error(high, scale, UINT8) <= zero_point_steps(UINT8) * scale.stored


@pytest.mark.parametrize("scheme", [UINT8, UINT4], ids=lambda s: s.name)
@given(low=st.floats(-64, 0, width=32), high=st.floats(0, 64, width=32), share=st.floats(0, 1))
def test_a_zero_point_costs_half_a_scale_and_the_shortfall(scheme, low, high, share):
    assume(high - low > 2.0**-6)
    scale = scale_of([low, high], scheme)
    inner = rational(round_to(low + share * (high - low), FP32))
    for value in (low, high, min(max(inner, Fraction(low)), Fraction(high))):
        assert error(value, scale, scheme) <= zero_point_steps(scheme) * scale.stored


def test_a_zero_point_next_to_a_tie_loses_the_shortfall():
    assert zero_point_steps(UINT8) == HALF + two(-17) + 255 * (1 / (1 - two(-24)) ** 2 - 1)
    assert zero_point_steps(replace(UINT8, scale_format=BF16)) > 1


@pytest.mark.parametrize("scheme", [Q8_0, Q4_0, Q5_0], ids=lambda s: s.name)
@given(values=st.lists(st.floats(-500, 500, width=32), min_size=1, max_size=8))
def test_llama_forms_stay_within_their_bound(scheme, values):
    scale, codes = encode_group(values, scheme)
    anchor = max(map(abs, values))
    assume(anchor > 0.01)
    computed = rational(round_to(Fraction(anchor) / abs(scheme.divisor), FP32))
    for value, code in zip(values, codes, strict=True):
        assert abs(Fraction(value) - decode(code, scale, scheme)) <= scale_stored_narrow(computed, scheme)


@given(values=st.lists(st.floats(-500, 500, width=32), min_size=2, max_size=8))
def test_q4_1_stays_within_its_bound(values):
    low, high = min(values), max(values)
    assume(high - low > 0.01 and (low == 0 or abs(low) > 0.01))
    scale, codes = encode_group(values, Q4_1)
    computed = rational(round_to(rational(round_to(Fraction(high) - Fraction(low), FP32)) / 15, FP32))
    for value, code in zip(values, codes, strict=True):
        assert abs(Fraction(value) - decode(code, scale, Q4_1)) <= minimum_stored_narrow(computed, Fraction(low), Q4_1)


def test_llama_bounds_are_their_formulas_and_fp32_rounding_hides_in_them():
    assert scale_stored_narrow(Fraction(1), Q8_0) == HALF + 127 * two(-11)
    assert scale_stored_narrow(Fraction(1), Q4_0) == 1 + 8 * two(-11)
    assert scale_stored_narrow(Fraction(1), Q5_0) == 1 + 16 * two(-11)
    assert minimum_stored_narrow(Fraction(1), Fraction(-3), Q4_1) == HALF + 15 * two(-11) + 3 * two(-11)
    assert all(map(rounding_hides, (Q8_0, Q4_0, Q5_0, Q4_1)))


def test_q4_0_loses_a_whole_scale_where_the_opposite_of_the_anchor_is_clipped():
    scale, codes = encode_group([-8.0, 8.0], Q4_0)
    assert (scale.stored, codes) == (1, [-8, 7])
    assert error(8.0, scale, Q4_0) == 1


def test_kivi_in_fp16_exceeds_the_formula_of_a_minimum_stored_narrow():
    """The rounding of x - m in fp16 costs up to N u16 scales more, unlike that of q4_1, which is computed in fp32."""
    low, high, value = -0.24169921875, 16.6875, 16.125
    scale = scale_of([low, high], KIVI_KEY)
    claimed = scale.stored * (HALF + 15 * two(-11)) + two(-11) * abs(Fraction(low))
    assert claimed < error(value, scale, KIVI_KEY) <= bound(value, scale, KIVI_KEY)


def test_the_bound_of_kivi_is_nearly_attained():
    scale = scale_of([-0.24169921875, 16.6875], KIVI_VALUE)
    ratios = []
    for step in range(1, 1 << 13):
        value = Fraction(step, 512)
        if rational(round_to(value, FP16)) == value:
            ratios.append(error(value, scale, KIVI_VALUE) / bound(value, scale, KIVI_VALUE))
    assert Fraction(98, 100) < max(ratios) <= 1


@given(value=st.floats(0, 2.0**20, width=32), static=st.floats(2.0**-10, 2.0**10, width=32))
@pytest.mark.parametrize("scheme", [E4M3, E5M2_CODES], ids=lambda s: s.name)
def test_the_fp8_theorem_holds_and_is_not_below_the_sharper_bound(scheme, value, static):
    scale = given_scale(static, scheme)
    limit = fp8_theorem(Fraction(value), Fraction(static), scheme)
    assert error(value, scale, scheme) <= bound(value, scale, scheme) <= limit


def test_the_relative_bound_of_textbooks_fails_for_fp8():
    worst, beyond_half_step = Fraction(0), False
    for significand in range(128):
        scale = scale_of([1 + significand / 128], E4M3)
        for k in range(8):
            middle = (8 + k + HALF) * 16 * scale.stored
            for value in (rational(round_to(middle, FP32)), *near(rational(round_to(middle, FP32)))):
                textbook = value * two(-4) / (1 + two(-4))
                found = error(value, scale, E4M3)
                assert found <= bound(value, scale, E4M3)
                worst = max(worst, found / max(textbook, scale.stored * two(-10)))
                beyond_half_step |= found > scale.stored * ulp(value / scale.stored, E4M3.codes) / 2
    assert beyond_half_step
    assert 1 < worst < 1 + two(-20)


def test_a_subnormal_scale_overflows_where_nothing_saturates():
    a = 1009 * two(-149)
    scale, codes = encode_group([a], E4M3_NAN)
    assert (scale.stored, codes) == (2 * two(-149), [0x7F])
    with pytest.raises(UndefinedError):
        bound(a, scale, E4M3_NAN)


def test_overflow_without_saturation_has_no_bound():
    one = given_scale(1, E4M3_NAN)
    assert bound(463, one, E4M3_NAN) >= 15
    with pytest.raises(UndefinedError, match="does not saturate"):
        bound(465, one, E4M3_NAN)
    with pytest.raises(UndefinedError, match="has no error"):
        bound(float("inf"), one, E4M3)


@pytest.mark.parametrize("division", ONE_FUNCTION)
@given(anchor=POSITIVE32)
def test_every_form_of_division_gives_an_allowed_code(division, anchor):
    scheme = replace(INT8, division=division)
    scale = scale_of([anchor], scheme)
    for value in near_midpoints(scale.stored, 127, 31):
        assert encode(value, scale, scheme) in allowed_codes(value, scale, INT8)
        assert encode(value, scale, scheme) in allowed_codes(value, scale, INT8, [division])


def test_either_neighbour_is_allowed_only_at_a_tie():
    one = given_scale(1, INT8)
    assert list(allowed_codes(2.5, one, INT8)) == [2, 3]
    assert list(allowed_codes(2.5, one, INT8, [Division.EXACT])) == [2, 3]
    assert list(allowed_codes(Fraction(5, 2) + two(-18), one, INT8, [Division.DIVIDE])) == [2, 3]
    assert list(allowed_codes(Fraction(5, 2) + 2 * two(-18), one, INT8, [Division.DIVIDE])) == [3]
    assert list(allowed_codes(Fraction(5, 2) + 4 * two(-18), one, INT8)) == [2, 3]
    assert list(allowed_codes(2.501, one, INT8)) == [3]
    assert list(allowed_codes(-2.5, one, INT8)) == [-3, -2]
    assert list(allowed_codes(1000, one, INT8)) == [127]
    assert list(allowed_codes(2.5, given_scale(1, UINT8, 10), UINT8)) == [12, 13]


def test_the_kappa_of_a_division_alone_would_accuse_a_reciprocal():
    """So an undeclared division is judged by the loosest form, not by the kappa of a correctly rounded one."""
    scheme = replace(INT8, division=Division.RECIPROCAL)
    accused = 0
    for k in range(8):
        scale = scale_of([1 + k / 8], scheme)
        for value in near_midpoints(scale.stored, 127):
            code = encode(value, scale, scheme)
            accused += code not in allowed_codes(value, scale, scheme, [Division.DIVIDE])
            assert code in allowed_codes(value, scale, scheme)
    assert accused


@given(anchor=POSITIVE32, code=st.integers(-127, 127))
@pytest.mark.parametrize("output", [None, BF16, FP16], ids=str)
def test_dequantizing_adds_what_it_says(output, anchor, code):
    scale = scale_of([anchor], INT8)
    value = decode(code, scale, INT8)
    assume(output is not FP16 or abs(value) < 60000)
    found = rational(dequantize(code, scale, INT8, output))
    assert abs(found - value) <= dequantized_bound(value, INT8, output)


def test_a_cast_costs_one_unit_roundoff():
    assert rounding_term(Fraction(3), BF16) == 3 * two(-8)
    assert rounding_term(Fraction(0), FP16) == two(-25)


@pytest.mark.parametrize("scheme", exhaustive.CASES, ids=lambda s: f"{s.name}-{s.division.name.lower()}")
def test_no_bf16_input_exceeds_its_bound_and_some_exceed_half_a_step(scheme):
    found = exhaustive.check(BF16, scheme)
    assert found.violations == 0
    assert found.beyond_half > 0
    assert found.ratio <= 1 < found.ratio * (1 + two(-14))
