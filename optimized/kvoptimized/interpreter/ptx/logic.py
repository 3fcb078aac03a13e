"""Moves, bitwise logic, shifts, byte permutation, counting of bits, selection."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np

from kvoptimized.interpreter.ptx.definitions import (
    Form,
    Undefined,
    Word,
    defines,
    integer,
    joined,
    pattern,
    word,
)


@defines("mov")
def move(form: Form, *sources: Word) -> Any:
    """Copy; braced sources are packed, the first one lowest, and braced destinations unpacked."""
    if len(sources) > 1:
        return joined([word(source, form.bits // len(sources)) for source in sources])
    if form.destinations == 1:
        return word(sources[0], form.bits)
    part = form.bits // form.destinations
    return tuple(word(sources[0] >> part * index, part) for index in range(form.destinations))


@defines("and")
def conjunction(form: Form, a: Word, b: Word) -> Word:
    """Bitwise and."""
    return word(a, form.bits) & word(b, form.bits)


@defines("or")
def disjunction(form: Form, a: Word, b: Word) -> Word:
    """Bitwise or."""
    return word(a, form.bits) | word(b, form.bits)


@defines("xor")
def exclusive(form: Form, a: Word, b: Word) -> Word:
    """Bitwise exclusive or."""
    return word(a, form.bits) ^ word(b, form.bits)


@defines("not")
def complement(form: Form, a: Word) -> Word:
    """Bitwise complement."""
    return ~word(a, form.bits)


@defines("lop3")
def logic_of_three(form: Form, a: Word, b: Word, c: Word, table: Word) -> Word:
    """Any function of three bits: bit number 4a + 2b + c of `table`."""
    a, b, c = (word(operand, 32) for operand in (a, b, c))
    truth = int(table.flat[0])
    terms = (
        (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
        for index in range(8)
        if truth >> index & 1
    )
    return reduce(operator.or_, terms, np.zeros_like(a))


@defines("shl")
def shift_left(form: Form, a: Word, amount: Word) -> Word:
    """Left; amounts from the width on give zero."""
    value, by = word(a, form.bits), np.minimum(word(amount, 32), form.bits)
    return pattern(np.where(by < form.bits, value << (by % form.bits).astype(value.dtype), 0), form.bits)


@defines("shr")
def shift_right(form: Form, a: Word, amount: Word) -> Word:
    """Right, filled with the sign for signed types; amounts from the width on act as the width."""
    value, by = integer(a, form.type), np.minimum(word(amount, 32), form.bits)
    shifted = value >> np.minimum(by, form.bits - 1).astype(value.dtype)
    gone = shifted if value.dtype.kind == "i" else np.zeros_like(value)
    return pattern(np.where(by < form.bits, shifted, gone), form.bits)


@defines("shf", "l r wrap clamp")
def funnel_shift(form: Form, low: Word, high: Word, amount: Word) -> Word:
    """32 bits of the 64 in {high, low}: the upper ones after a left shift, the lower ones after a right shift."""
    by = word(amount, 32)
    by = (by & 31 if form.has("wrap") else np.minimum(by, 32)).astype(np.uint64)
    both = joined([word(low, 32), word(high, 32)])
    return word(both << by >> 32 if form.has("l") else both >> by, 32)


@defines("prmt")
def permute(form: Form, a: Word, b: Word, selector: Word) -> Word:
    """Four bytes of the eight in {b, a}, chosen by the low nibbles of `selector`; bit 3 spreads the byte's sign."""
    both, nibbles = joined([word(a, 32), word(b, 32)]), word(selector, 32)
    chosen = []
    for index in range(4):
        nibble = nibbles >> 4 * index
        byte = word(both >> ((nibble & 7) * 8).astype(np.uint64), 8).view(np.int8)
        chosen.append(np.where(nibble & 8, byte >> 7, byte).astype(np.int8).view(np.uint8))
    return joined([joined(chosen[:2]), joined(chosen[2:])])


@defines("bfe")
def extract(form: Form, a: Word, position: Word, length: Word) -> Word:
    """`length` bits of `a` from `position` on; for signed types the highest of them, or of `a`, fills the rest."""
    source = integer(a, form.type).astype(object)
    at, count = word(position, 8).astype(object), word(length, 8).astype(object)
    field = (source >> at) % (1 << count)
    if form.type.startswith("s"):
        top = np.clip(at + count - 1, 0, form.bits - 1)
        field = np.where((count > 0) & ((source >> top & 1) > 0), field - (1 << count), field)
    return word(field % (1 << form.bits), form.bits)


@defines("bfi")
def insert(form: Form, a: Word, b: Word, position: Word, length: Word) -> Word:
    """`b` with the low `length` bits of `a` at `position`."""
    at, count = word(position, 8).astype(object), word(length, 8).astype(object)
    mask = (((1 << count) - 1) << at) % (1 << form.bits)
    whole, part = word(b, form.bits).astype(object), word(a, form.bits).astype(object)
    return word((whole & ~mask) | ((part << at) & mask), form.bits)


@defines("popc")
def population(form: Form, a: Word) -> Word:
    """Number of bits that are set."""
    return word(np.bitwise_count(word(a, form.bits)), 32)


@defines("clz")
def leading_zeros(form: Form, a: Word) -> Word:
    """Number of zeros above the highest bit that is set."""
    smeared = word(a, form.bits)
    for step in range(form.bits.bit_length() - 1):
        smeared = smeared | smeared >> (1 << step)
    return word(form.bits - np.bitwise_count(smeared).astype(np.uint32), 32)


@defines("brev")
def reverse(form: Form, a: Word) -> Word:
    """The bits in reverse order."""
    source = word(a, form.bits)
    return reduce(operator.or_, ((source >> bit & 1) << (form.bits - 1 - bit) for bit in range(form.bits)))


@defines("selp")
def select(form: Form, a: Word, b: Word, predicate: Word) -> Word:
    """`a` where the predicate holds, else `b`."""
    if predicate.dtype != bool:
        raise Undefined("selection by something that is not a predicate")
    return np.where(predicate, word(a, form.bits), word(b, form.bits))
