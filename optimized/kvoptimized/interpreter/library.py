"""Functions of `libdevice`, of which the stock interpreter has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as stock
from numpy.typing import NDArray
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice

from kvoptimized.interpreter import elementary
from kvoptimized.interpreter.casts import pack
from kvoptimized.interpreter.faults import KernelFault
from kvoptimized.interpreter.floats import to_integer


class UnknownFunction(KernelFault, NotImplementedError):
    """A `libdevice` function that is not interpreted."""


def _away(x: NDArray[Any]) -> NDArray[Any]:
    """The nearest integer, ties away from zero."""
    whole: NDArray[Any] = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)


_NUMPY = "abs ceil copysign cos expm1 floor log10 log1p rint sin sqrt tan trunc"
_SAME: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in _NUMPY.split()}
_SAME |= {name: getattr(elementary, name) for name in ("exp", "exp2", "log", "log2", "tanh")}
_SAME |= {"nearbyint": np.rint, "round": _away, "rsqrt": lambda x: 1 / np.sqrt(x)}
_SAME |= {"sqrt_rn": np.sqrt, "div_rn": np.divide, "pow": np.power}
_ROUNDED = {"rn": np.rint, "rz": np.trunc, "ru": np.ceil, "rd": np.floor}
_TESTS: dict[str, Callable[..., Any]] = {"isnan": np.isnan, "isinf": np.isinf, "finitef": np.isfinite}


def library_functions() -> Iterator[tuple[Any, str, Any]]:
    """What to put where: (module, name, function on interpreted tensors).

    exp, exp2, log, log2 and tanh have the same bits everywhere; cos, expm1, log10, log1p, pow, sin and tan are NumPy's,
    whose last place depends on the processor. Those that are not known raise UnknownFunction.
    """
    for module in (libdevice, cuda_libdevice):
        for name, value in vars(module).items():
            if callable(value) and not name.startswith("_") and value.__module__ == module.__name__:
                yield module, name, _interpreted(name)


def _interpreted(name: str) -> Callable[..., Any]:
    if name in _SAME:
        return partial(_elementwise, _SAME[name])
    if name in _TESTS:
        return partial(_into_int32, _TESTS[name])
    family, _, rounding = name.rpartition("_")
    if family == "float2int" and rounding in _ROUNDED:
        convert = partial(to_integer, storage=np.dtype(np.int32), rounding=_ROUNDED[rounding])
        return partial(_into_int32, convert)
    return partial(_unknown, name)


def _elementwise(operation: Callable[..., Any], x: Any, *others: Any, _semantic: Any = None) -> Any:
    result = operation(x.handle.data, *(other.handle.data for other in others))
    return tl.tensor(stock.TensorHandle(pack(result, x.dtype.scalar), x.dtype.scalar), x.type)


def _into_int32(operation: Callable[..., Any], x: Any, _semantic: Any = None) -> Any:
    type_ = x.type.with_element_ty(tl.int32) if x.type.is_block() else tl.int32
    return tl.tensor(stock.TensorHandle(operation(x.handle.data).astype(np.int32), tl.int32), type_)


def _unknown(name: str, *args: Any, **named: Any) -> Any:
    raise UnknownFunction(f"libdevice.{name} is not interpreted; write it with functions of triton.language")
