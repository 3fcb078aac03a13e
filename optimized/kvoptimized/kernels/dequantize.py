"""Codes as exact operands of matrix units, unpacked in registers.

Quantized caches are read as int16 words of two bytes, so that a word moves through shared memory and into the layout
of a matrix operand as any 16-bit element does. Two words fill a register, and what comes out of it are pairs of
operands: for each byte (each nibble) of a word one tensor of the words' shape. Where operands become codes by
subtraction or multiplication, that operation is exact: no zero point is left to cancel later.

PTX says whether NVIDIA's instructions may be used; the plain form gives the same numbers on every device.
"""

from __future__ import annotations

import triton.language as tl

from kvoptimized.launch import kernel


@kernel
def operands(words, FORMAT: tl.constexpr, TYPE: tl.constexpr, PTX: tl.constexpr):
    """Four tensors of TYPE (bf16 or fp16) with the codes in `words`, without their scales.

    Channels of word `w`: `w` itself in a plain format, all four alike; `2 w + i` in tensors i = 0, 1 of a format of
    bytes, and again in 2, 3; in int4 the low nibbles of both bytes, then their high nibbles: see `channel`.
    NaN codes of e4m3, which no finite number is stored as, count as 480.
    """
    if FORMAT == "int4":
        found = int4_operands(words, TYPE, PTX)
    elif FORMAT == "int8":
        a, b = int8_operands(words, TYPE, PTX)
        found = a, b, a, b
    elif FORMAT == "e4m3":
        a, b = e4m3_operands(words, TYPE, PTX)
        found = a, b, a, b
    else:
        found = words, words, words, words
    return found


@kernel
def channel(word, nth: tl.constexpr, TENSORS: tl.constexpr, HEAD_DIM: tl.constexpr):
    """The channel that tensor `nth` of the TENSORS that differ holds in column `word`; 1, 2 or 4 of them."""
    half = nth // 2 % (TENSORS // 2) * (HEAD_DIM // 2) if TENSORS > 1 else 0
    return 2 * word + nth % 2 + half if TENSORS > 1 else word


@kernel
def int8_operands(words, TYPE: tl.constexpr, PTX: tl.constexpr):
    """Both bytes."""
    if not PTX:
        found = int8_plain(words, TYPE)
    elif TYPE.is_bf16():
        found = int8_to_bf16(words)
    else:
        found = int8_to_fp16(words)
    return found


@kernel
def e4m3_operands(words, TYPE: tl.constexpr, PTX: tl.constexpr):
    """Both bytes."""
    if not PTX:
        found = e4m3_plain(words, TYPE)
    elif TYPE.is_bf16():
        found = e4m3_to_bf16(words)
    else:
        found = e4m3_to_fp16(words)
    return found


@kernel
def int4_operands(words, TYPE: tl.constexpr, PTX: tl.constexpr):
    """Low nibbles of both bytes, and high ones."""
    if not PTX:
        found = int4_plain(words, TYPE)
    elif TYPE.is_bf16():
        found = int4_to_bf16(words)
    else:
        found = int4_to_fp16(words)
    return found


@kernel
def int8_to_bf16(words):
    """Codes -128..127: 128 plus the low seven bits, less 128 or 256 by the sign bit."""
    return tl.inline_asm_elementwise(
        """
        {
        .reg .b32 upper, low, sign, minus_one;
        mov.b32 minus_one, 0xbf80bf80;
        lop3.b32 low, $2, 0x007f007f, 0x43004300, 0xea;
        lop3.b32 sign, $2, 0x00800080, 0x43004300, 0xea;
        fma.rn.bf16x2 $0, sign, minus_one, low;
        shr.u32 upper, $2, 8;
        lop3.b32 low, upper, 0x007f007f, 0x43004300, 0xea;
        lop3.b32 sign, upper, 0x00800080, 0x43004300, 0xea;
        fma.rn.bf16x2 $1, sign, minus_one, low;
        }
        """,
        "=&r,=&r,r",
        [words],
        dtype=(tl.bfloat16, tl.bfloat16),
        is_pure=True,
        pack=2,
    )


@kernel
def int8_to_fp16(words):
    """Codes -128..127: the byte with its sign bit turned over lies in the mantissa of 1024, and 1152 is subtracted."""
    return tl.inline_asm_elementwise(
        """
        {
        .reg .b32 upper, biased, zero_point;
        mov.b32 zero_point, 0xe480e480;
        lop3.b32 biased, $2, 0x00ff00ff, 0x64806480, 0x6a;
        add.rn.f16x2 $0, biased, zero_point;
        shr.u32 upper, $2, 8;
        lop3.b32 biased, upper, 0x00ff00ff, 0x64806480, 0x6a;
        add.rn.f16x2 $1, biased, zero_point;
        }
        """,
        "=&r,=&r,r",
        [words],
        dtype=(tl.float16, tl.float16),
        is_pure=True,
        pack=2,
    )


@kernel
def e4m3_to_bf16(words):
    """Sign, exponent and mantissa where bf16 has them, subnormal ones too, times 2**120 for the other bias."""
    return tl.inline_asm_elementwise(
        """
        {
        .reg .b32 spread, bias, minus_zero;
        mov.b32 bias, 0x7b807b80;
        mov.b32 minus_zero, 0x80008000;
        prmt.b32 spread, $2, 0, 0x2804;
        shr.s32 spread, spread, 4;
        and.b32 spread, spread, 0x87f087f0;
        fma.rn.bf16x2 $0, spread, bias, minus_zero;
        prmt.b32 spread, $2, 0, 0x3914;
        shr.s32 spread, spread, 4;
        and.b32 spread, spread, 0x87f087f0;
        fma.rn.bf16x2 $1, spread, bias, minus_zero;
        }
        """,
        "=&r,=&r,r",
        [words],
        dtype=(tl.bfloat16, tl.bfloat16),
        is_pure=True,
        pack=2,
    )


@kernel
def e4m3_to_fp16(words):
    """Sign, exponent and mantissa where fp16 has them, subnormal ones too, times 2**8 for the other bias."""
    return tl.inline_asm_elementwise(
        """
        {
        .reg .b32 spread, bias, minus_zero;
        mov.b32 bias, 0x5c005c00;
        mov.b32 minus_zero, 0x80008000;
        prmt.b32 spread, $2, 0, 0x2804;
        shr.s32 spread, spread, 1;
        and.b32 spread, spread, 0xbf80bf80;
        fma.rn.f16x2 $0, spread, bias, minus_zero;
        prmt.b32 spread, $2, 0, 0x3914;
        shr.s32 spread, spread, 1;
        and.b32 spread, spread, 0xbf80bf80;
        fma.rn.f16x2 $1, spread, bias, minus_zero;
        }
        """,
        "=&r,=&r,r",
        [words],
        dtype=(tl.float16, tl.float16),
        is_pure=True,
        pack=2,
    )


@kernel
def int4_to_bf16(words):
    """Codes -8..7: the nibble with its sign bit turned over lies in the mantissa of 128, and 136 is subtracted."""
    return tl.inline_asm_elementwise(
        """
        {
        .reg .b32 upper, biased, one, zero_point;
        mov.b32 one, 0x3f803f80;
        mov.b32 zero_point, 0xc308c308;
        lop3.b32 biased, $4, 0x000f000f, 0x43084308, 0x6a;
        fma.rn.bf16x2 $0, biased, one, zero_point;
        shr.u32 upper, $4, 8;
        lop3.b32 biased, upper, 0x000f000f, 0x43084308, 0x6a;
        fma.rn.bf16x2 $1, biased, one, zero_point;
        shr.u32 upper, $4, 4;
        lop3.b32 biased, upper, 0x000f000f, 0x43084308, 0x6a;
        fma.rn.bf16x2 $2, biased, one, zero_point;
        shr.u32 upper, $4, 12;
        lop3.b32 biased, upper, 0x000f000f, 0x43084308, 0x6a;
        fma.rn.bf16x2 $3, biased, one, zero_point;
        }
        """,
        "=&r,=&r,=&r,=&r,r",
        [words],
        dtype=(tl.bfloat16, tl.bfloat16, tl.bfloat16, tl.bfloat16),
        is_pure=True,
        pack=2,
    )


@kernel
def int4_to_fp16(words):
    """Codes -8..7 as in `int4_to_bf16`, from 1024; a high nibble stays in place, sixteen times its worth."""
    return tl.inline_asm_elementwise(
        """
        {
        .reg .b32 upper, biased, zero_point, sixteenth, zero_point_high;
        mov.b32 zero_point, 0xe408e408;
        mov.b32 sixteenth, 0x2c002c00;
        mov.b32 zero_point_high, 0xd480d480;
        lop3.b32 biased, $4, 0x000f000f, 0x64086408, 0x6a;
        add.rn.f16x2 $0, biased, zero_point;
        lop3.b32 biased, $4, 0x00f000f0, 0x64806480, 0x6a;
        fma.rn.f16x2 $2, biased, sixteenth, zero_point_high;
        shr.u32 upper, $4, 8;
        lop3.b32 biased, upper, 0x000f000f, 0x64086408, 0x6a;
        add.rn.f16x2 $1, biased, zero_point;
        lop3.b32 biased, upper, 0x00f000f0, 0x64806480, 0x6a;
        fma.rn.f16x2 $3, biased, sixteenth, zero_point_high;
        }
        """,
        "=&r,=&r,=&r,=&r,r",
        [words],
        dtype=(tl.float16, tl.float16, tl.float16, tl.float16),
        is_pure=True,
        pack=2,
    )


@kernel
def int8_plain(words, TYPE: tl.constexpr):
    """`int8_to_bf16` and `int8_to_fp16` without inline assembly."""
    low = (words << 8) >> 8
    high = words >> 8
    return low.to(tl.float32).to(TYPE), high.to(tl.float32).to(TYPE)


@kernel
def int4_plain(words, TYPE: tl.constexpr):
    """`int4_to_bf16` and `int4_to_fp16` without inline assembly."""
    a = (words << 12) >> 12
    b = (words << 4) >> 12
    c = (words << 8) >> 12
    d = words >> 12
    return a.to(tl.float32).to(TYPE), b.to(tl.float32).to(TYPE), c.to(tl.float32).to(TYPE), d.to(tl.float32).to(TYPE)


@kernel
def e4m3_plain(words, TYPE: tl.constexpr):
    """`e4m3_to_bf16` and `e4m3_to_fp16` without inline assembly."""
    wide = words.to(tl.int32)
    low = ((wide & 0x80) << 24) | ((wide & 0x7F) << 20)
    high = ((wide & 0x8000) << 16) | ((wide & 0x7F00) << 12)
    # 2**120: exponents of e4m3 lie in the field of fp32 without their bias of 7.
    low_number = low.to(tl.float32, bitcast=True) * 1.329227995784916e36
    high_number = high.to(tl.float32, bitcast=True) * 1.329227995784916e36
    return low_number.to(TYPE), high_number.to(TYPE)
