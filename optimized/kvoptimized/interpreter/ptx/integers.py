"""Integer arithmetic, which wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvoptimized.interpreter.ptx.definitions import Form, Undefined, Word, defines, integer, pattern, word

_LONG = 64
_COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater}
_COMPARISONS |= {"ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}


def _wide(value: Word, type_: str) -> NDArray[Any]:
    """As integers of twice the width, in which sums and products are exact."""
    narrow = integer(value, type_)
    if 8 * narrow.dtype.itemsize == _LONG:
        raise Undefined("the upper half of a 64-bit result")
    return narrow.astype(f"{narrow.dtype.kind}{2 * narrow.dtype.itemsize}")


def _sum(operation: Callable[..., Any], form: Form, a: Word, b: Word) -> Word:
    if form.has("sat"):
        total = operation(_wide(a, form.type), _wide(b, form.type))
        bounds = np.iinfo(integer(a, form.type).dtype)
        return pattern(np.clip(total, bounds.min, bounds.max).astype(bounds.dtype), form.bits)
    total = operation(integer(a, form.type), integer(b, form.type))
    return pattern(total, form.bits)


@defines("add", "sat", floating=False)
def add(form: Form, a: Word, b: Word) -> Word:
    """Sum; `.sat` clamps it."""
    return _sum(np.add, form, a, b)


@defines("sub", "sat", floating=False)
def subtract(form: Form, a: Word, b: Word) -> Word:
    """Difference; `.sat` clamps it."""
    return _sum(np.subtract, form, a, b)


@defines("mul", "lo hi wide", floating=False)
def multiply(form: Form, a: Word, b: Word) -> Word:
    """The low half of the product, the high half, or all of it (`.wide`)."""
    if form.has("lo"):
        return pattern(integer(a, form.type) * integer(b, form.type), form.bits)
    product = _wide(a, form.type) * _wide(b, form.type)
    if form.has("wide"):
        return pattern(product, 2 * form.bits)
    return word(product >> form.bits, form.bits)


@defines("mad", "lo hi wide", floating=False)
def multiply_add(form: Form, a: Word, b: Word, c: Word) -> Word:
    """Product, halves as for `mul`, plus an addend."""
    product = multiply(form, a, b)
    return pattern(product + c.astype(product.dtype), 8 * product.dtype.itemsize)


@defines("min", floating=False)
def minimum(form: Form, a: Word, b: Word) -> Word:
    """The smaller one."""
    return pattern(np.minimum(integer(a, form.type), integer(b, form.type)), form.bits)


@defines("max", floating=False)
def maximum(form: Form, a: Word, b: Word) -> Word:
    """The larger one."""
    return pattern(np.maximum(integer(a, form.type), integer(b, form.type)), form.bits)


@defines("neg", floating=False)
def negate(form: Form, a: Word) -> Word:
    """Additive inverse."""
    return pattern(np.negative(integer(a, form.type)), form.bits)


@defines("abs", floating=False)
def absolute(form: Form, a: Word) -> Word:
    """Magnitude; the most negative number keeps its pattern."""
    return pattern(np.abs(integer(a, form.type)), form.bits)


@defines("setp", " ".join(_COMPARISONS), floating=False)
def compare(form: Form, a: Word, b: Word) -> Word:
    """A predicate: how `a` compares with `b`."""
    return np.asarray(_COMPARISONS[form.modifiers[0]](integer(a, form.type), integer(b, form.type)))


@defines("dp4a")
def dot_of_four(form: Form, a: Word, b: Word, c: Word) -> Word:
    """Sum of the products of four pairs of bytes, plus an addend."""
    left, right = (
        np.stack([integer(value >> 8 * index, f"{type_[0]}8") for index in range(4)]).astype(np.int64)
        for value, type_ in zip((a, b), form.types, strict=True)
    )
    return word((left * right).sum(0) + integer(c, "s32"), 32)
