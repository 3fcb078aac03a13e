"""Inline PTX against definitions that are written down here a second time, on Python integers and exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from kvoptimized.interpreter import UnknownInstruction
from kvoptimized.interpreter.ptx import evaluate
from kvoptimized.interpreter.ptx.machine import OperandMismatch
from kvoptimized.launch import kernel
from kvspec.numbers.floats import BF16, E4M3FN, E5M2, FP16, FP32, FloatFormat, Overflow, round_to, to_bits
from tests.optimized.interpreter import tiny

EDGES = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F803F80, 0x7F7FFF7F]
WORDS = st.sampled_from(EDGES) | st.integers(0, 2**32 - 1)
MASK = 0xFFFFFFFF


def signed(word: int, bits: int = 32) -> int:
    return word - (1 << bits) if word >> bits - 1 & 1 else word


def byte_permutation(a: int, b: int, selector: int) -> int:
    source = [a >> 8 * i & 255 for i in range(4)] + [b >> 8 * i & 255 for i in range(4)]
    result = 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = source[nibble % 8]
        result |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * i
    return result


def three_bits(a: int, b: int, c: int, table: int) -> int:
    return sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32))


def bit_field(a: int, position: int, length: int, is_signed: bool) -> int:
    """The loop of the PTX ISA: bit by bit, and the sign from the last bit of the field or of the word."""
    position, length = position & 255, length & 255
    last = min(position + length - 1, 31)
    fill = a >> last & 1 if is_signed and length else 0
    return sum((a >> position + i & 1 if i < length and position + i < 32 else fill) << i for i in range(32))


def inserted(a: int, b: int, position: int, length: int) -> int:
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < 32:
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


INTEGER = {
    "and.b32 $0, $1, $2;": lambda a, b, c: a & b,
    "or.b32 $0, $1, $2;": lambda a, b, c: a | b,
    "xor.b32 $0, $1, $2;": lambda a, b, c: a ^ b,
    "not.b32 $0, $1;": lambda a, b, c: ~a,
    "mov.b32 $0, $1;": lambda a, b, c: a,
    "mov.u32 $0, 0x43004300;": lambda a, b, c: 0x43004300,
    "mov.b32 $0, -7;": lambda a, b, c: -7,
    "shl.b32 $0, $1, $3;": lambda a, b, c: a << min(c, 32),
    "shl.b32 $0, $1, 4;": lambda a, b, c: a << 4,
    "shr.u32 $0, $1, $3;": lambda a, b, c: a >> min(c, 32),
    "shr.b32 $0, $1, 3;": lambda a, b, c: a >> 3,
    "shr.s32 $0, $1, $3;": lambda a, b, c: signed(a) >> min(c, 31),
    "shf.l.wrap.b32 $0, $1, $2, $3;": lambda a, b, c: (b << 32 | a) << (c & 31) >> 32,
    "shf.r.clamp.b32 $0, $1, $2, $3;": lambda a, b, c: (b << 32 | a) >> min(c, 32),
    "prmt.b32 $0, $1, $2, $3;": byte_permutation,
    "prmt.b32 $0, $1, $2, 0x7362;": lambda a, b, c: byte_permutation(a, b, 0x7362),
    "prmt.b32 $0, $1, 0, 0x4140U;": lambda a, b, c: byte_permutation(a, 0, 0x4140),
    "lop3.b32 $0, $1, $2, $3, 0xca;": lambda a, b, c: three_bits(a, b, c, 0xCA),
    "lop3.b32 $0, $1, 0x000f000f, 0x43004300, 0xea;": lambda a, b, c: a & 0x000F000F | 0x43004300,
    "lop3.b32 $0, $1, $2, $3, 0;": lambda a, b, c: 0,
    "add.u32 $0, $1, $2;": lambda a, b, c: a + b,
    "add.s32 $0, $1, $2;": lambda a, b, c: a + b,
    "add.sat.s32 $0, $1, $2;": lambda a, b, c: max(-(2**31), min(signed(a) + signed(b), 2**31 - 1)),
    "sub.u32 $0, $1, $2;": lambda a, b, c: a - b,
    "mul.lo.s32 $0, $1, $2;": lambda a, b, c: a * b,
    "mul.hi.u32 $0, $1, $2;": lambda a, b, c: a * b >> 32,
    "mul.hi.s32 $0, $1, $2;": lambda a, b, c: signed(a) * signed(b) >> 32,
    "mul.wide.u16 $0, $1, $2;": lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF),
    "mad.lo.u32 $0, $1, $2, $3;": lambda a, b, c: a * b + c,
    "min.s32 $0, $1, $2;": lambda a, b, c: min(signed(a), signed(b)),
    "max.u32 $0, $1, $2;": lambda a, b, c: max(a, b),
    "neg.s32 $0, $1;": lambda a, b, c: -a,
    "abs.s32 $0, $1;": lambda a, b, c: abs(signed(a)),
    "bfe.u32 $0, $1, $2, $3;": lambda a, b, c: bit_field(a, b, c, False),
    "bfe.s32 $0, $1, $2, $3;": lambda a, b, c: bit_field(a, b, c, True),
    "bfe.u32 $0, $1, 4, 4;": lambda a, b, c: a >> 4 & 15,
    "bfe.s32 $0, $1, 4, 4;": lambda a, b, c: signed(a >> 4 & 15, 4),
    "bfi.b32 $0, $1, $2, $3, 5;": lambda a, b, c: inserted(a, b, c, 5),
    "popc.b32 $0, $1;": lambda a, b, c: a.bit_count(),
    "clz.b32 $0, $1;": lambda a, b, c: 32 - a.bit_length(),
    "brev.b32 $0, $1;": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "dp4a.s32.s32 $0, $1, $2, $3;": lambda a, b, c: (
        sum(signed(a >> 8 * i & 255, 8) * signed(b >> 8 * i & 255, 8) for i in range(4)) + c
    ),
    "dp4a.u32.s32 $0, $1, $2, $3;": lambda a, b, c: (
        sum((a >> 8 * i & 255) * signed(b >> 8 * i & 255, 8) for i in range(4)) + c
    ),
    "cvt.s32.s8 $0, $1;": lambda a, b, c: signed(a & 255, 8),
    "cvt.u32.u16 $0, $1;": lambda a, b, c: a & 0xFFFF,
    "cvt.sat.s8.s32 $0, $1;": lambda a, b, c: max(-128, min(signed(a), 127)) & 0xFF,
    "{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }": lambda a, b, c: min(signed(a), signed(b)),
    "{ .reg .pred p; setp.hs.u32 p, $1, $2; mov.b32 $0, $2; @p mov.b32 $0, $1; }": lambda a, b, c: max(a, b),
    "{ .reg .pred p; setp.ne.u32 p, $1, $2; mov.b32 $0, 1; @!p mov.b32 $0, 2; }": lambda a, b, c: 1 + (a == b),
    "{ .reg .b16 h<2>; mov.b32 {h0, h1}, $1; mov.b32 $0, {h1, h0}; }": lambda a, b, c: a << 16 | a >> 16,
    "{ .reg .b32 t; // a comment\n and.b32 t, $1, 255; /* more */ shl.b32 $0, t, 8; }": lambda a, b, c: (a & 255) << 8,
}


def run(text: str, *columns: list[int], constraints: str = "=r,r,r,r") -> list[int]:
    operands = [np.array(column, np.uint32) for column in columns]
    (result,) = evaluate(text, constraints, operands, [np.dtype(np.uint32)], 1)
    return result.tolist()


@pytest.mark.parametrize("text", INTEGER)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS | st.integers(0, 40)), min_size=1, max_size=24))
@settings(max_examples=25)
def test_integer_instructions_do_as_defined(text: str, triples: list[tuple[int, int, int]]):
    columns = [list(column) for column in zip(*triples, strict=True)]
    assert run(text, *columns) == [INTEGER[text](*triple) & MASK for triple in triples]


EXACT = {
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: a * b,
    "fma": lambda a, b, c: a * b + c,
}


def halves(word: int) -> tuple[int, int]:
    return word & 0xFFFF, word >> 16


@pytest.mark.parametrize("rounding", ("", ".rn"))
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("format", (BF16, FP16), ids=lambda format: format.name)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=24))
@settings(max_examples=25)
def test_packed_arithmetic_rounds_each_half_once(format: FloatFormat, name: str, rounding: str, triples):
    type_ = {BF16: "bf16x2", FP16: "f16x2"}[format]
    sources = "$1, $2, $3" if name == "fma" else "$1, $2"
    results = run(f"{name}{rounding}.{type_} $0, {sources};", *zip(*triples, strict=True))
    for triple, result in zip(triples, results, strict=True):
        for *operands, got in zip(*map(halves, triple), halves(result), strict=True):
            values = [tiny.value(operand, format) for operand in operands]
            if all(isinstance(value, Fraction) for value in values):
                exact = EXACT[name](*values)
                if exact:
                    assert got == to_bits(exact, format), [hex(o) for o in operands]


@pytest.mark.parametrize("name", ("add", "sub", "mul", "fma"))
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=24))
@settings(max_examples=25)
def test_fp32_arithmetic_rounds_once(name: str, triples):
    sources = "$1, $2, $3" if name == "fma" else "$1, $2"
    results = run(f"{name}.rn.f32 $0, {sources};", *zip(*triples, strict=True))
    for triple, got in zip(triples, results, strict=True):
        values = [tiny.value(operand, FP32) for operand in triple]
        if all(isinstance(value, Fraction) for value in values) and (exact := EXACT[name](*values)):
            assert got == to_bits(exact, FP32), [hex(o) for o in triple]


def test_flush_to_zero_applies_to_operands_and_results():
    smallest = 0x00800000
    assert run("mul.ftz.f32 $0, $1, $2;", [1, smallest, 0x80000001], [smallest, 0x3F000000, 0x7F000000], [0] * 3) == [
        0,
        0,
        0x80000000,
    ]


@pytest.mark.parametrize(("target", "type_"), ((E4M3FN, "e4m3x2"), (E5M2, "e5m2x2")))
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=24))
@settings(max_examples=40)
def test_two_fp32_become_packed_8_bit_floats_the_first_one_above(target: FloatFormat, type_: str, pairs):
    text = f"{{ .reg .b16 h; cvt.rn.satfinite.{type_}.f32 h, $1, $2; mov.b32 $0, {{h, h}}; }}"
    for (a, b), word in zip(pairs, run(text, *zip(*pairs, strict=True), constraints="=r,f,f"), strict=True):
        for source, got in ((a, word >> 8 & 255), (b, word & 255)):
            assert tiny.same(got, round_to(tiny.value(source, FP32), target), target), hex(source)


@pytest.mark.parametrize(("source", "type_"), ((E4M3FN, "e4m3x2"), (E5M2, "e5m2x2")))
def test_every_8_bit_float_widens_to_fp16_in_either_half(source: FloatFormat, type_: str):
    patterns = np.arange(256, dtype=np.uint16)
    pairs = patterns << 8 | patterns[::-1]
    (words,) = evaluate(f"cvt.rn.f16x2.{type_} $0, $1;", "=r,h", [pairs], [np.dtype(np.uint32)], 1)
    for pair, word in zip(pairs.tolist(), words.tolist(), strict=True):
        assert tiny.same(word & 0xFFFF, tiny.value(pair & 255, source), FP16)
        assert tiny.same(word >> 16, tiny.value(pair >> 8, source), FP16)


@pytest.mark.parametrize(("target", "name"), ((BF16, "bf16"), (FP16, "f16")))
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=24))
@settings(max_examples=40)
def test_two_fp32_become_packed_16_bit_floats(target: FloatFormat, name: str, pairs):
    words = run(f"cvt.rn.{name}x2.f32 $0, $1, $2;", *zip(*pairs, strict=True), constraints="=r,f,f")
    finite = run(f"cvt.rn.satfinite.{name}x2.f32 $0, $1, $2;", *zip(*pairs, strict=True), constraints="=r,f,f")
    for (a, b), word, saturated in zip(pairs, words, finite, strict=True):
        for source, shift in ((a, 16), (b, 0)):
            number = tiny.value(source, FP32)
            assert tiny.same(word >> shift & 0xFFFF, round_to(number, target), target)
            assert tiny.same(saturated >> shift & 0xFFFF, round_to(number, target, Overflow.SATURATE), target)


ROUNDINGS = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
TARGETS = {"s8": (-(2**7), 2**7 - 1), "u8": (0, 255), "s16": (-(2**15), 2**15 - 1), "u16": (0, 2**16 - 1)}
TARGETS |= {"s32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1)}


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("target", TARGETS)
@given(st.lists(st.floats(width=32) | st.integers(-200, 200).map(lambda k: k / 2), min_size=1, max_size=24))
@settings(max_examples=25)
def test_fp32_becomes_an_integer_within_its_bounds(target: str, rounding: str, numbers: list[float]):
    low, high = TARGETS[target]
    words = np.array(numbers, np.float32).view(np.uint32)
    results = run(f"cvt.{rounding}.{target}.f32 $0, $1;", words.tolist(), constraints="=r,f")
    width = int(target[1:])
    for number, got in zip(words.view(np.float32).tolist(), results, strict=True):
        if math.isnan(number):
            expected = 0
        elif math.isinf(number):
            expected = high if number > 0 else low
        else:
            expected = max(low, min(ROUNDINGS[rounding](number), high))
        assert got == expected % (1 << width), number


def test_integers_become_fp32_and_fp32_becomes_integral():
    single = {"constraints": "=r,r"}
    assert run("cvt.rn.f32.s32 $0, $1;", [1, MASK, 2**24 + 1], **single) == [0x3F800000, 0xBF800000, 0x4B800000]
    assert run("cvt.rn.f32.u8 $0, $1;", [0xFF], **single) == [0x437F0000]
    assert run("cvt.rni.f32.f32 $0, $1;", [0x40200000, 0xC0600000], **single) == [0x40000000, 0xC0800000]
    ties = [0x3F801000, 0x3F800FFF, 0x7F800001]
    assert run("cvt.rna.tf32.f32 $0, $1;", ties, **single) == [0x3F802000, 0x3F800000, 0x7F800001]


def test_minimum_and_maximum_treat_nan_and_zeros_as_defined():
    nan, one, minus_zero = 0x7FC00000, 0x3F800000, 0x80000000
    assert run("max.f32 $0, $1, $2;", [nan, minus_zero, 0], [one, 0, minus_zero], [0] * 3) == [one, 0, 0]
    assert run("min.f32 $0, $1, $2;", [nan, minus_zero, 0], [one, 0, minus_zero], [0] * 3) == [one] + [minus_zero] * 2
    assert run("max.NaN.bf16x2 $0, $1, $2;", [0x7FC03F80], [0x3F804000], [0]) == [0x7FFF4000]


COMPARED = {"lt": [1, 0, 0, 0], "geu": [0, 1, 1, 1], "equ": [0, 1, 0, 1], "num": [1, 1, 1, 0], "nan": [0, 0, 0, 1]}


@pytest.mark.parametrize("kind", COMPARED)
def test_float_predicates_are_ordered_unless_they_say_otherwise(kind: str):
    a, b = (np.array(x, np.float32).view(np.uint32).tolist() for x in ([1, 2, 3, math.nan], [2, 2, 1, 1]))
    text = f"{{ .reg .pred p; setp.{kind}.f32 p, $1, $2; selp.b32 $0, 1, 0, p; }}"
    assert run(text, a, b, [0] * 4) == COMPARED[kind]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("frobnicate.b32 $0, $1;", "frobnicate.b32"),
        ("add.rz.f32 $0, $1, $2;", "modifier .rz"),
        ("prmt.b32.f4e $0, $1, $2, 3;", "modifier .f4e"),
        ("mov.b32 $0, t;", "before anything was written"),
        ("mov.b32 t, $1;", "not declared"),
        ("cvt.rn.bf16.s64 $0, $1;", "64-bit"),
        ("@@ what", "not a declaration"),
    ],
)
def test_what_has_no_definition_is_named(text: str, named: str):
    with pytest.raises(UnknownInstruction, match=named):
        run(text, [1], [2], [3])


@pytest.mark.parametrize("constraints", ["=r,r", "=r,r,r,r,r", "=r,x,r,r"])
def test_constraints_that_do_not_fit_are_refused(constraints: str):
    with pytest.raises(OperandMismatch):
        run("mov.b32 $0, $1;", [1], [2], [3], constraints=constraints)


@kernel
def unpack(X, LOW, HIGH, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(X + lanes)
    low, high = tl.inline_asm_elementwise(
        """
        {
        .reg .b32 low<2>, high<2>, shifted;
        and.b32 low0, $4, 0x0f0f0f0f;
        shr.u32 shifted, $4, 4;
        and.b32 high0, shifted, 0x0f0f0f0f;
        prmt.b32 low1, low0, 0, 0x4342;
        prmt.b32 low0, low0, 0, 0x4140;
        prmt.b32 high1, high0, 0, 0x4342;
        prmt.b32 high0, high0, 0, 0x4140;
        mov.b32 $0, low0;
        mov.b32 $1, low1;
        mov.b32 $2, high0;
        mov.b32 $3, high1;
        }
        """,
        "=r,=r,=r,=r,r",
        [x],
        dtype=(tl.int16, tl.int16),
        is_pure=True,
        pack=4,
    )
    tl.store(LOW + lanes, low)
    tl.store(HIGH + lanes, high)


def test_elements_share_registers_in_order_and_several_results_come_back():
    x = torch.arange(256, dtype=torch.uint8)
    low, high = torch.zeros(256, dtype=torch.int16), torch.zeros(256, dtype=torch.int16)
    unpack[(1,)](x, low, high, 256)
    assert low.tolist() == [value & 15 for value in range(256)]
    assert high.tolist() == [value >> 4 for value in range(256)]
