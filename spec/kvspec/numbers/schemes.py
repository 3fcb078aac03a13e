"""Quantization schemes as data: everything that decides which code a value gets and what the code means.

A *group* is the set of values that share one scale. Encoding a value x of a group, in the arithmetic of the scheme:
anchor a of the group, computed scale fl(a / divisor), stored scale rounded to `scale_format`, quotient t by `division`,
code by `rounding`, then clipping to the codes. Decoding: code * stored scale (after subtracting the zero point, or
before adding the minimum).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from kvspec.numbers.floats import E4M3FN, E5M2, FP16, FP32, FloatFormat, Overflow


class Granularity(Enum):
    """Which elements of keys or values `[tokens, kv_heads, head_dim]` share one scale.

    `group_size` divides further: GROUP makes groups of `group_size` consecutive channels of one token and head;
    CHANNEL with a group size makes groups of that many consecutive tokens within one channel of one head.
    """

    TENSOR = "tensor"
    HEAD = "head"
    TOKEN_HEAD = "token-head"  # noqa: S105 - a token of text, not a secret
    CHANNEL = "channel"
    GROUP = "group"


class Anchor(Enum):
    """The number a of a group from which its scale a / divisor comes."""

    ABSMAX = "the largest magnitude"
    SIGNED_ABSMAX = "the first value that has the largest magnitude, with its sign"
    RANGE = "fl(max - min)"
    RANGE_WITH_ZERO = "fl(max(values, 0) - min(values, 0))"


class Zero(Enum):
    """What stands for zero."""

    SYMMETRIC = "code 0 means 0"
    ZERO_POINT = "code z means 0: z = rint(-min(values, 0) / s), added to the rounded quotient before clipping"
    MINIMUM = "code 0 means the minimum, stored as a number: the quotient is that of fl(x - minimum)"


class Division(Enum):
    """How the quotient t of x by the scale s is computed; fl rounds to nearest in the scheme's arithmetic."""

    EXACT = "x / s, without rounding"
    DIVIDE = "fl(x / s)"
    RECIPROCAL = "fl(x * fl(1 / s))"
    INVERSE_FIRST = "fl(x * fl(divisor / a))"
    WITHIN_2_ULP = "x / s with an error of at most 2 ulp: not a function, only bounds exist"


class Divides(Enum):
    """Which scale divides where the stored one is narrower than the arithmetic."""

    STORED = "the stored scale: rounded first, then used"
    COMPUTED = "the computed scale, before it is rounded to be stored"


class Rounding(Enum):
    """How a quotient becomes an integer code; floating-point codes always round to nearest even."""

    TIES_TO_EVEN = "rint"
    TIES_AWAY = "roundf"
    ADD_HALF = "trunc(fl(t + (1/2 - lowest))) + lowest"


class ZeroGroup(Enum):
    """What a group gets whose scale is zero, rounds to zero, or has an infinite reciprocal.

    "The code of 0" is integer 0 (its minimum where one is stored), or the floating-point pattern 0, without sign.
    """

    SCALE_ZERO = "scale 0 is stored and every code is that of 0"
    SCALE_ONE = "scale 1 is stored and every code is that of 0"
    REFUSE = "a named error"


class NonFinite(Enum):
    """What NaN or infinity gets. Where it is not refused it does not join the anchor of its group."""

    REFUSE = "a named error"
    SATURATE = "infinity: the extreme code of its sign"
    KEEP = "the NaN or infinity of a floating-point code; NaN for infinity where the format has none"


class Layout(Enum):
    """How two 4-bit codes share a byte; d counts from 0 in a row of D codes."""

    ADJACENT = "byte j holds d = 2j in its low nibble and d = 2j + 1 in its high nibble"
    HALVES = "byte j holds d = j in its low nibble and d = j + D/2 in its high nibble"


@dataclass(frozen=True, slots=True)
class IntegerCodes:
    """Integers `lowest <= q <= highest`, kept in `bits` bits after `bias` is added."""

    bits: int
    lowest: int
    highest: int
    bias: int = 0

    @property
    def largest(self) -> int:
        """The largest magnitude of a code."""
        return max(-self.lowest, self.highest)


@dataclass(frozen=True, slots=True)
class Scheme:
    """One way to quantize keys or values.

    `divisor` is Q of the formulas: the code that the anchor gets (negative where the anchor's sign is turned).
    `floor` replaces a smaller computed scale, zero included; a guard against division by zero, not above the smallest
    normal number of the arithmetic if it is to leave ordinary scales alone.
    `zero_format` is the format of a stored minimum. `overflow` is what a floating-point code does beyond its largest
    number; integer codes always saturate.
    """

    name: str
    codes: IntegerCodes | FloatFormat
    divisor: int | Fraction
    granularity: Granularity = Granularity.TENSOR
    group_size: int | None = None
    anchor: Anchor = Anchor.ABSMAX
    zero: Zero = Zero.SYMMETRIC
    scale_format: FloatFormat = FP32
    zero_format: FloatFormat | None = None
    division: Division = Division.DIVIDE
    divides: Divides = Divides.STORED
    rounding: Rounding = Rounding.TIES_TO_EVEN
    arithmetic: FloatFormat = FP32
    overflow: Overflow = Overflow.SATURATE
    zero_group: ZeroGroup = ZeroGroup.SCALE_ZERO
    nan: NonFinite = NonFinite.REFUSE
    infinity: NonFinite = NonFinite.REFUSE
    layout: Layout | None = None
    floor: Fraction = Fraction(0)

    @property
    def code_bits(self) -> int:
        """Bits of one stored code."""
        return self.codes.bits

    def per(self, granularity: Granularity, group_size: int | None = None) -> Scheme:
        """The same scheme with scales of another granularity; the name says which."""
        suffix = granularity.value + (f"-{group_size}" if group_size else "")
        return replace(
            self,
            name=f"{self.name.split('/', maxsplit=1)[0]}/{suffix}",
            granularity=granularity,
            group_size=group_size,
        )


INT8 = Scheme("int8", IntegerCodes(8, -127, 127), 127)
INT4 = Scheme("int4", IntegerCodes(4, -7, 7, bias=8), 7, scale_format=FP16, layout=Layout.ADJACENT)
INT4_FP32 = replace(
    INT4, name="int4-fp32", codes=IntegerCodes(4, -8, 7, bias=8), scale_format=FP32, layout=Layout.HALVES
)
"""Nibbles of kvoptimized: fp32 scales with divisor 7. Under a scale taken from the row itself no code is -8."""
UINT8 = Scheme("uint8", IntegerCodes(8, 0, 255), 255, anchor=Anchor.RANGE_WITH_ZERO, zero=Zero.ZERO_POINT)
UINT4 = replace(
    UINT8, name="uint4", codes=IntegerCodes(4, 0, 15), divisor=15, scale_format=FP16, layout=Layout.ADJACENT
)
E4M3 = Scheme("e4m3", E4M3FN, 448, nan=NonFinite.KEEP, infinity=NonFinite.SATURATE)
E4M3_NAN = replace(E4M3, name="e4m3-nan", overflow=Overflow.NAN, infinity=NonFinite.KEEP)
"""Overflow beyond 464 gives NaN, as the conversion of ml_dtypes does."""
E5M2_CODES = Scheme("e5m2", E5M2, 57344, nan=NonFinite.KEEP, infinity=NonFinite.SATURATE)

E5M2_INF = replace(E5M2_CODES, name="e5m2-inf", overflow=Overflow.INFINITY, infinity=NonFinite.KEEP)
"""Overflow from 61440 on gives infinity, as the conversion of torch does (its e4m3fn saturates)."""

_BASES = (INT8, INT4, INT4_FP32, UINT8, UINT4, E4M3, E4M3_NAN, E5M2_CODES, E5M2_INF)
_GRAINS = (
    (Granularity.TENSOR, None),
    (Granularity.HEAD, None),
    (Granularity.TOKEN_HEAD, None),
    (Granularity.CHANNEL, None),
    (Granularity.GROUP, 32),
    (Granularity.GROUP, 64),
)

Q8_0 = Scheme(
    "q8_0",
    IntegerCodes(8, -127, 127),
    127,
    Granularity.GROUP,
    32,
    scale_format=FP16,
    division=Division.RECIPROCAL,
    divides=Divides.COMPUTED,
    rounding=Rounding.TIES_AWAY,
)
"""llama.cpp `quantize_row_q8_0_ref`."""
Q4_0 = replace(
    Q8_0,
    name="q4_0",
    codes=IntegerCodes(4, -8, 7, bias=8),
    divisor=-8,
    anchor=Anchor.SIGNED_ABSMAX,
    rounding=Rounding.ADD_HALF,
    layout=Layout.HALVES,
)
"""llama.cpp `quantize_row_q4_0_ref`: the value of largest magnitude gets code -8, its opposite is clipped to 7."""
Q5_0 = replace(Q4_0, name="q5_0", codes=IntegerCodes(5, -16, 15, bias=16), divisor=-16, layout=None)
"""llama.cpp `quantize_row_q5_0_ref`; the fifth bits stand in a separate word, so no nibble layout."""
Q4_1 = replace(
    Q4_0,
    name="q4_1",
    codes=IntegerCodes(4, 0, 15),
    divisor=15,
    anchor=Anchor.RANGE,
    zero=Zero.MINIMUM,
    zero_format=FP16,
)
"""llama.cpp `quantize_row_q4_1_ref`."""

KIVI_KEY = Scheme(
    "kivi-key",
    IntegerCodes(4, 0, 15),
    15,
    Granularity.CHANNEL,
    32,
    anchor=Anchor.RANGE,
    zero=Zero.MINIMUM,
    scale_format=FP16,
    zero_format=FP16,
    arithmetic=FP16,
    layout=Layout.ADJACENT,
)
"""KIVI (arXiv 2402.02750): keys per channel in groups of tokens, every step in fp16."""
KIVI_VALUE = replace(KIVI_KEY, name="kivi-value", granularity=Granularity.GROUP)
"""KIVI: values per token in groups of channels."""

SCHEMES = {
    scheme.name: scheme
    for scheme in (
        *(base.per(granularity, size) for base in _BASES for granularity, size in _GRAINS),
        *(Q8_0, Q4_0, Q5_0, Q4_1, KIVI_KEY, KIVI_VALUE),
    )
}
"""Every named scheme, such as `int8/token-head`, `e4m3/tensor`, `int4/group-32`, `q8_0`."""
