"""Registration with `torch.library`: every public operation is an operator `kvspec::name`, which torch can compile.

An operator sees tensors and numbers, never a `PagedKVCache`. What it changes stands in its signature as `Tensor(a!)`.
It is defined directly, because the dispatch of `torch.library.custom_op` takes longer than a short kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import torch

NAMESPACE = "kvspec"
DEVICES = ("CPU", "CUDA")
"""Dispatch keys under which the implementation is found; ROCm devices are CUDA ones to torch."""

Function = TypeVar("Function", bound=Callable[..., Any])

_library = torch.library.Library(NAMESPACE, "FRAGMENT")


def operator(signature: str, *, fake: Callable[..., Any]) -> Callable[[Function], Function]:
    """Register a function under `kvspec::` with a signature such as `merge(Tensor a, Tensor b) -> Tensor`.

    `fake` has the same parameters and gives tensors of the right shape and dtype without data. The result dispatches
    through torch. The implementation checks its input itself: in a compiled graph it is all that runs.
    """
    name, _, _ = signature.partition("(")

    def register(function: Function) -> Function:
        _library.define(signature, tags=(torch.Tag.pt2_compliant_tag,))
        for key in DEVICES:
            _library.impl(name, function, key)
        torch.library.register_fake(f"{NAMESPACE}::{name}", fake, lib=_library)
        return cast(Function, overload(name))

    return register


def operators() -> list[str]:
    """Names of all operators that have been registered so far, such as `kvspec::write`."""
    schemas: Sequence[Any] = torch._C._jit_get_all_schemas()
    return sorted({schema.name for schema in schemas if schema.name.startswith(f"{NAMESPACE}::")})


def overload(name: str) -> Any:
    """The operator as torch knows it, for `torch.library.opcheck`; `name` without the namespace."""
    return getattr(getattr(torch.ops, NAMESPACE), name).default
