"""`cvt`: between integers and floats of every width, and the packed forms of the small formats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvoptimized.interpreter.floats import narrow, to_integer
from kvoptimized.interpreter.ptx.definitions import (
    WIDTHS,
    Form,
    Undefined,
    Word,
    defines,
    integer,
    joined,
    lanes,
    storage,
)
from kvoptimized.interpreter.ptx.floating import FORMATS, flushed, numbers

_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_MODIFIERS = " ".join(("rn", "rz", "rna", *_INTEGRAL, "ftz", "sat", "satfinite", "relu"))


@defines("cvt", _MODIFIERS)
def convert(form: Form, *sources: Word) -> Word:
    """One source gives one result; two fp32 sources give a packed one, the first source above the second."""
    target, source = form.types
    if target == "tf32":
        return _tf32(form, *sources)
    parts = [part for word_ in reversed(sources) for part in lanes(word_, source)]
    if len(parts) != len(lanes(np.zeros(1, storage(WIDTHS[target])), target)):
        raise Undefined(f"{len(parts)} numbers into .{target}")
    return joined([_convert(form, part, target, source) for part in parts])


def _convert(form: Form, part: Word, target: str, source: str) -> Word:
    whole_target, whole_source = target[0] in "su", source[0] in "su"
    if whole_source and whole_target:
        return _between_integers(form, integer(part, source), target)
    if whole_source:
        return _to_float(form, integer(part, source), target)
    values = numbers(part, source, form.has("ftz"))
    rounding = next((_INTEGRAL[modifier] for modifier in form.modifiers if modifier in _INTEGRAL), None)
    if whole_target:
        if rounding is None:
            raise Undefined("float to integer without an integer rounding")
        exact = values if source == "f64" else values.astype(np.float32)
        return to_integer(exact, _signed(target), rounding).view(storage(WIDTHS[target]))
    return _to_float(form, values if rounding is None else rounding(values), target)


def _between_integers(form: Form, values: NDArray[Any], target: str) -> Word:
    if form.has("sat"):
        bounds = np.iinfo(_signed(target))
        values = np.array([min(max(int(value), bounds.min), bounds.max) for value in values.flat]).reshape(values.shape)
    return values.astype(_signed(target)).view(storage(WIDTHS[target]))


def _to_float(form: Form, values: NDArray[Any], target: str) -> Word:
    if form.has("relu"):
        values = np.where(values < 0, 0, values).astype(values.dtype)
    if form.has("sat"):
        values = np.where(np.isnan(values), 0, np.clip(values, 0, 1)).astype(values.dtype)
    if target in {"f32", "f64"}:
        if form.has("rz") and values.dtype.itemsize > WIDTHS[target] // 8:
            raise Undefined(f"rounding toward zero to .{target}")
        rounded = values.astype(np.float32 if target == "f32" else np.float64)
        return (flushed(rounded) if form.has("ftz") else rounded).view(storage(WIDTHS[target]))
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        raise Undefined(f"64-bit integers to .{target}")
    format = FORMATS[target]
    if form.has("satfinite"):
        format = replace(format, saturates=True)
    return narrow(values if values.dtype.kind == "f" else values.astype(np.float64), format, form.has("rz"))


def _tf32(form: Form, source: Word) -> Word:
    """The upper 19 bits, rounded to nearest with ties away from zero."""
    if not form.has("rna"):
        raise Undefined("tf32 with another rounding than .rna")
    bits = source.astype(np.uint32)
    special = (bits & 0x7F800000) == 0x7F800000
    return np.where(special, bits, (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000))


def _signed(target: str) -> np.dtype[Any]:
    return np.dtype(f"{'i' if target[0] == 's' else 'u'}{WIDTHS[target] // 8}")
