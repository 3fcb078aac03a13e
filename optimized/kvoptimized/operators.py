"""Registration with `torch.library`: every public operation is an operator `kvspec::name`, which torch can compile.

An operator sees tensors and numbers, never a `PagedKVCache`. What it changes stands in its schema as `Tensor(a0!)`. It
is defined directly, because the dispatch of `torch.library.custom_op` takes longer than a short kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor

NAMESPACE = "kvspec"
DEVICES = ("CPU", "CUDA")
"""Dispatch keys under which the implementation is found; ROCm devices are CUDA ones to torch."""

Function = TypeVar("Function", bound=Callable[..., Any])

_library = torch.library.Library(NAMESPACE, "FRAGMENT")


def operator(*mutates: str) -> Callable[[Function], Function]:
    """Register a function under `kvspec::` and its own name, which changes the tensors called `mutates`.

    Its signature stands once: the schema is inferred from it, and torch calls the same function with tensors that have
    no data. It checks its input itself, in a compiled graph it is all that runs; and it gives tensors of the right
    shape and dtype without reading numbers where not `has_data`. The result dispatches through torch.
    """

    def register(function: Function) -> Function:
        name = function.__name__.lstrip("_")
        schema = torch.library.infer_schema(function, op_name=name, mutates_args=mutates)
        _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        for key in DEVICES:
            _library.impl(name, function, key)
        torch.library.register_fake(f"{NAMESPACE}::{name}", function, lib=_library)
        dispatch = overload(name)

        @wraps(function)
        def dispatched(*args: Any, **named: Any) -> Any:
            return dispatch(*args, **named)

        return cast(Function, dispatched)

    return register


def has_data(tensor: torch.Tensor) -> bool:
    """Whether there are numbers to compute with, or torch asks only what shape and dtype results will have."""
    return not isinstance(tensor, FakeTensor) and not tensor.is_meta


def operators() -> list[str]:
    """Names of all operators that have been registered so far, such as `kvspec::write`."""
    schemas: Sequence[Any] = torch._C._jit_get_all_schemas()
    return sorted({schema.name for schema in schemas if schema.name.startswith(f"{NAMESPACE}::")})


def overload(name: str) -> Any:
    """The operator as torch knows it, for `torch.library.opcheck`; `name` without the namespace."""
    return getattr(getattr(torch.ops, NAMESPACE), name).default
