"""Floating-point arithmetic; `.approx` forms are computed in fp64 and then rounded, better than the hardware does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvoptimized.interpreter import arithmetic, elementary
from kvoptimized.interpreter.floats import BF16, E4M3FN, E5M2, FP16, narrow, widen
from kvoptimized.interpreter.ptx.definitions import Form, Undefined, Word, defines, joined, lanes, word

Numbers = NDArray[Any]

FORMATS = {"f16": FP16, "bf16": BF16, "f16x2": FP16, "bf16x2": BF16, "e4m3x2": E4M3FN, "e5m2x2": E5M2}
"""Formats of one lane of a type."""

_SMALLEST_NORMAL = 2.0**-126
_COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater}
_COMPARISONS |= {"ge": np.greater_equal}


def numbers(lane: Word, type_: str, flush: bool = False) -> Numbers:
    """The numbers of one lane: fp32 and fp64 as they are, narrower ones as fp64, where one operation is harmless."""
    if type_ == "f64":
        return word(lane, 64).view(np.float64)
    if type_ == "f32":
        values = word(lane, 32).view(np.float32)
        return flushed(values) if flush else values
    return widen(lane, FORMATS[type_]).astype(np.float64)


def patterns(values: Numbers, type_: str, flush: bool = False) -> Word:
    """One lane of `type_` with `values` rounded to nearest even."""
    if type_ == "f64":
        return values.astype(np.float64).view(np.uint64)
    if type_ == "f32":
        rounded = values.astype(np.float32)
        return (flushed(rounded) if flush else rounded).view(np.uint32)
    return narrow(values, FORMATS[type_])


def flushed(values: Numbers) -> Numbers:
    """Subnormal fp32 numbers as zeros of their sign."""
    return np.where(np.abs(values) < _SMALLEST_NORMAL, np.copysign(np.float32(0), values), values)


def _lane_wise(form: Form, operation: Callable[..., Numbers], *sources: Word) -> Word:
    flush, type_ = form.has("ftz"), form.type
    results = []
    for parts in zip(*(lanes(source, type_) for source in sources), strict=True):
        result = operation(*(numbers(part, type_, flush) for part in parts))
        if form.has("sat"):
            result = np.where(np.isnan(result), 0, np.clip(result, 0, 1)).astype(result.dtype)
        if form.has("relu"):
            result = np.where(result < 0, 0, result).astype(result.dtype)
        results.append(patterns(result, type_, flush))
    return joined(results)


@defines("add", "rn ftz sat", floating=True)
def add(form: Form, a: Word, b: Word) -> Word:
    """Sum."""
    return _lane_wise(form, np.add, a, b)


@defines("sub", "rn ftz sat", floating=True)
def subtract(form: Form, a: Word, b: Word) -> Word:
    """Difference."""
    return _lane_wise(form, np.subtract, a, b)


@defines("mul", "rn ftz sat", floating=True)
def multiply(form: Form, a: Word, b: Word) -> Word:
    """Product."""
    return _lane_wise(form, np.multiply, a, b)


@defines("mad", "rn ftz sat", floating=True)
@defines("fma", "rn ftz sat relu", floating=True)
def fuse(form: Form, a: Word, b: Word, c: Word) -> Word:
    """Product plus addend, rounded once."""
    if form.type == "f64":
        raise Undefined("fused multiply-add of fp64")
    return _lane_wise(form, arithmetic.fused, a, b, c)


@defines("div", "rn full approx ftz", floating=True)
def divide(form: Form, a: Word, b: Word) -> Word:
    """Quotient."""
    return _lane_wise(form, np.divide, a, b)


@defines("min", "ftz NaN", floating=True)
def minimum(form: Form, a: Word, b: Word) -> Word:
    """The smaller one; a NaN loses, or wins with `.NaN`."""
    return _lane_wise(form, arithmetic.minimum_nan if form.has("NaN") else arithmetic.minimum, a, b)


@defines("max", "ftz NaN", floating=True)
def maximum(form: Form, a: Word, b: Word) -> Word:
    """The larger one; a NaN loses, or wins with `.NaN`."""
    return _lane_wise(form, arithmetic.maximum_nan if form.has("NaN") else arithmetic.maximum, a, b)


@defines("neg", "ftz", floating=True)
def negate(form: Form, a: Word) -> Word:
    """The other sign."""
    return _lane_wise(form, np.negative, a)


@defines("abs", "ftz", floating=True)
def absolute(form: Form, a: Word) -> Word:
    """Magnitude."""
    return _lane_wise(form, np.abs, a)


@defines("sqrt", "rn approx ftz", floating=True)
def square_root(form: Form, a: Word) -> Word:
    """Square root."""
    return _lane_wise(form, np.sqrt, a)


@defines("rcp", "rn approx ftz", floating=True)
def reciprocal(form: Form, a: Word) -> Word:
    """1 / a."""
    return _lane_wise(form, lambda x: np.divide(np.ones_like(x), x), a)


@defines("rsqrt", "approx ftz", floating=True)
def reciprocal_root(form: Form, a: Word) -> Word:
    """1 / sqrt(a)."""
    return _lane_wise(form, lambda x: 1 / np.sqrt(x.astype(np.float64)), a)


@defines("ex2", "approx ftz", floating=True)
def power_of_two(form: Form, a: Word) -> Word:
    """2**a."""
    return _lane_wise(form, elementary.exp2, a)


@defines("lg2", "approx ftz", floating=True)
def binary_logarithm(form: Form, a: Word) -> Word:
    """log2(a)."""
    return _lane_wise(form, elementary.log2, a)


@defines("tanh", "approx", floating=True)
def tangent(form: Form, a: Word) -> Word:
    """Hyperbolic tangent."""
    return _lane_wise(form, elementary.tanh, a)


@defines("setp", "ftz num nan equ neu ltu leu gtu geu " + " ".join(_COMPARISONS), floating=True)
def compare(form: Form, a: Word, b: Word) -> Word:
    """A predicate, false for NaN; `num` and `nan` ask for it, and those that end in u are true for it."""
    kind, flush = form.modifiers[0], form.has("ftz")
    if form.type.endswith("x2"):
        raise Undefined("comparison of packed numbers")
    x, y = (numbers(lanes(source, form.type)[0], form.type, flush) for source in (a, b))
    unordered = np.isnan(x) | np.isnan(y)
    if kind in {"num", "nan"}:
        return unordered if kind == "nan" else ~unordered
    if kind in _COMPARISONS:
        return np.asarray(_COMPARISONS[kind](x, y) & ~unordered)
    return np.asarray(_COMPARISONS[kind[:2]](x, y) | unordered)
