"""`tl.reduce` and `tl.associative_scan`, and what is made of them: `tl.sum`, `tl.max`, `tl.argmax`, `tl.cumsum`, ...

Every step is one call of the combine function on values of the type of the input, so that bf16 is rounded at each step
and 8-bit floats are refused, as in the compiled code. The order of the steps depends on the layout that the compiler
chooses. Here a reduction combines the first half with the second until one lane is left, and a scan combines with the
lanes 1, 2, 4, ... before: what Triton 3.6.0 and 3.9.0 compile to on one warp with one lane per thread (`shfl.sync.bfly`
and `.up`). Results that depend on the order may differ elsewhere: sums that round, and `tl.argmax` where there is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as stock
from numpy.typing import NDArray

from kvoptimized.interpreter.arithmetic import maximum, minimum
from kvoptimized.interpreter.faults import AmbiguousTruth, IntegerOverflow, NotOnHardware
from kvoptimized.interpreter.integers import outside
from kvoptimized.interpreter.patching import Patches
from kvoptimized.interpreter.rewriting import rewritten

Lanes = NDArray[Any]
"""What the interpreter stores for the lanes of one operand; the axis to combine along comes first."""
Combine = Callable[[Sequence[Lanes], Sequence[Lanes]], list[Lanes]]

_LONG = 64
_branching: set[Any] = set()


def install(patches: Patches) -> None:
    """Replace how the interpreter reduces and scans."""
    patches.set_attr(stock.ReduceOps, "apply_impl", _reduce)
    patches.set_attr(stock.ScanOps, "apply_impl", _scan)


def _reduce(self: Any, operands: tuple[Any, ...]) -> list[Any]:
    axis = getattr(self.axis, "value", self.axis)
    types = [operand.dtype.scalar for operand in operands]
    lanes = [operand.handle.data for operand in operands]
    rank = lanes[0].ndim
    front = [np.moveaxis(x, axis, 0) if axis is not None else x.reshape(-1) for x in lanes]
    at_once = _AT_ONCE.get(self.combine_fn.fn)
    if at_once and _native(types[0]):
        results = [at_once(front[0], types[0])]
    else:
        results = _folded(front, partial(_called, self.combine_fn.fn, types))
    if getattr(self.keep_dims, "value", self.keep_dims):
        results = [np.expand_dims(x, axis if axis is not None else tuple(range(rank))) for x in results]
    return [_tensor(x, type_) for x, type_ in zip(results, types, strict=True)]


def _scan(self: Any, operands: tuple[Any, ...]) -> list[Any]:
    axis = getattr(self.axis, "value", self.axis)
    types = [operand.dtype.scalar for operand in operands]
    lanes = [np.moveaxis(operand.handle.data, axis, 0) for operand in operands]
    lanes = [x[::-1] for x in lanes] if self.reverse else lanes
    whole = _WHOLE_SCANS.get(self.combine_fn.fn)
    if whole and types[0].is_int():
        results = [whole(lanes[0], types[0])]
    else:
        results = _scanned(lanes, partial(_called, self.combine_fn.fn, types))
    results = [x[::-1] for x in results] if self.reverse else results
    return [_tensor(np.moveaxis(x, 0, axis), type_) for x, type_ in zip(results, types, strict=True)]


def _tensor(lanes: Lanes, type_: Any) -> Any:
    handle = stock.TensorHandle(np.ascontiguousarray(lanes), type_)
    return tl.tensor(handle, tl.block_type(type_, list(lanes.shape)) if lanes.ndim else type_)


def _folded(lanes: Sequence[Lanes], combine: Combine) -> list[Lanes]:
    while (length := len(lanes[0])) > 1:
        lanes = combine([x[: length // 2] for x in lanes], [x[length // 2 :] for x in lanes])
    return [x[0] for x in lanes]


def _scanned(lanes: Sequence[Lanes], combine: Combine) -> list[Lanes]:
    """Lanes that have no lane to combine with repeat the first pair, and keep what they have."""
    place = np.arange(len(lanes[0]))
    distance = 1
    while distance < len(place):
        before, own = np.maximum(place - distance, 0), np.maximum(place, distance)
        combined = combine([x[before] for x in lanes], [x[own] for x in lanes])
        lanes = [np.concatenate([x[:distance], y[distance:]]) for x, y in zip(lanes, combined, strict=True)]
        distance *= 2
    return list(lanes)


def _called(function: Any, types: Sequence[Any], first: Sequence[Lanes], second: Sequence[Lanes]) -> list[Lanes]:
    """The combine function on all lanes at once, or on one after another if it branches."""
    if function not in _branching:
        try:
            return _call(function, types, first, second)
        except AmbiguousTruth:
            _branching.add(function)
    results = [np.empty_like(x) for x in first]
    for lane in np.ndindex(first[0].shape):
        one = _call(function, types, [x[lane].reshape(1) for x in first], [x[lane].reshape(1) for x in second])
        for result, x in zip(results, one, strict=True):
            result[lane] = x[0]
    return results


def _call(function: Any, types: Sequence[Any], first: Sequence[Lanes], second: Sequence[Lanes]) -> list[Lanes]:
    arguments = [_tensor(x, type_) for side in (first, second) for x, type_ in zip(side, types, strict=True)]
    returned = rewritten(function)(*arguments)
    several = returned if isinstance(returned, tuple | tl.tuple) else (returned,)
    return [_stored(value, type_, first[0].shape) for value, type_ in zip(several, types, strict=True)]


def _stored(value: Any, type_: Any, shape: tuple[int, ...]) -> Lanes:
    """What a combine function returned, which must have the type of its operand for the compiler to accept it."""
    value = value if isinstance(value, tl.tensor) else stock.interpreter_semantic.to_tensor(value)
    if value.dtype.scalar != type_:
        raise NotOnHardware(f"a combine function that makes {value.dtype.scalar} of {type_} does not compile")
    return np.broadcast_to(value.handle.data, shape)


def _native(type_: Any) -> bool:
    """Whether NumPy computes with the stored lanes as the hardware does."""
    return bool(type_.is_int() or type_.is_fp32() or type_.is_fp64())


def _sum(lanes: Lanes, type_: Any) -> Lanes:
    if type_.is_int():
        return _whole(np.add.reduce, "sum", lanes, type_)
    return _halved(np.add, lanes)


def _largest(lanes: Lanes, type_: Any) -> Lanes:
    return _extreme(np.maximum if type_.is_int() else np.fmax, maximum, lanes)


def _smallest(lanes: Lanes, type_: Any) -> Lanes:
    return _extreme(np.minimum if type_.is_int() else np.fmin, minimum, lanes)


def _extreme(fast: Any, exact: Callable[[Lanes, Lanes], Lanes], lanes: Lanes) -> Lanes:
    """NumPy at once, unless zeros of both signs might meet."""
    result: Lanes = fast.reduce(lanes)
    return _halved(exact, lanes) if lanes.dtype.kind == "f" and (result == 0).any() else result


def _halved(operation: Callable[[Lanes, Lanes], Lanes], lanes: Lanes) -> Lanes:
    while (length := len(lanes)) > 1:
        lanes = operation(lanes[: length // 2], lanes[length // 2 :])
    return np.asarray(lanes[0])


def _whole(total: Callable[..., Any], name: str, lanes: Lanes, type_: Any) -> Lanes:
    """Sums of integers, modulo the size of their type; refused if they leave a signed one."""
    wide = np.asarray(total(lanes, axis=0, dtype=np.uint64 if type_.is_uint64() else np.int64))
    if type_.is_int_signed() and type_.int_bitwidth < _LONG and (first := outside(wide, type_)) is not None:
        raise IntegerOverflow(name, str(type_), (), int(wide[first]))
    return wide.astype(stock._get_np_dtype(type_))


def _cumulative_sum(lanes: Lanes, type_: Any) -> Lanes:
    return _whole(np.add.accumulate, "cumsum", lanes, type_)


def _cumulative_product(lanes: Lanes, type_: Any) -> Lanes:
    products: Lanes = np.multiply.accumulate(lanes, axis=0, dtype=lanes.dtype)
    return products


_AT_ONCE: dict[Any, Callable[[Lanes, Any], Lanes]] = {
    tl.standard._sum_combine.fn: _sum,
    tl.standard._elementwise_max.fn: _largest,
    tl.standard._elementwise_min.fn: _smallest,
}
_WHOLE_SCANS: dict[Any, Callable[[Lanes, Any], Lanes]] = {
    tl.standard._sum_combine.fn: _cumulative_sum,
    tl.standard._prod_combine.fn: _cumulative_product,
}
