"""Specialisations from launches: an operation is called with tensors of the right shapes, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch

from kvoptimized.launch import Kernel, launch_options
from kvoptimized.static.registry import Specialisation

_TYPES: Mapping[torch.dtype, str] = MappingProxyType(
    {
        torch.bfloat16: "bf16",
        torch.float16: "fp16",
        torch.float32: "fp32",
        torch.float8_e4m3fn: "fp8e4nv",
        torch.int8: "i8",
        torch.uint8: "u8",
        torch.int16: "i16",
        torch.int32: "i32",
        torch.int64: "i64",
        torch.bool: "i1",
    }
)
_ALIGNMENT = 16


@dataclass(frozen=True)
class Launch:
    """A kernel and the arguments that it was launched with, by name."""

    kernel: Kernel
    arguments: Mapping[str, Any]
    options: Mapping[str, Any]

    def specialised(self, name: str, **claims: Any) -> Specialisation:
        """As Triton's own launcher specialises: ones are constants, multiples of 16 are known as such.

        `claims` are the other fields of `Specialisation`.
        """
        constants, signature, divisible = {}, {}, set()
        declared = {parameter.name: parameter.is_constexpr for parameter in self.kernel.params}
        for parameter, value in self.arguments.items():
            whole = isinstance(value, int) and not isinstance(value, bool)
            if declared[parameter] or value is None or (whole and value == 1):
                constants[parameter] = value
                continue
            signature[parameter] = _type(value)
            address = value.data_ptr() if isinstance(value, torch.Tensor) else value if whole else 1
            if address % _ALIGNMENT == 0:
                divisible.add(parameter)
        return Specialisation(
            name, self.kernel, signature, constants, frozenset(divisible), dict(self.options), **claims
        )


def recorded(operation: Callable[[], Any]) -> list[Launch]:
    """The launches that `operation` would make; its results are whatever lay in their memory."""
    launches: list[Launch] = []
    with _intercepted(launches):
        operation()
    return launches


def _type(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"*{_TYPES[value.dtype]}"
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    return "fp32"


@contextmanager
def _intercepted(launches: list[Launch]) -> Iterator[None]:
    def record(kernel: Kernel, *args: Any, grid: Any, warmup: bool = False, **named: Any) -> None:
        options = {name: named.pop(name) for name in list(named) if name in launch_options()}
        launches.append(Launch(kernel, dict(zip(kernel.arg_names, args, strict=False)) | named, options))

    run = Kernel.run
    Kernel.run = record  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Kernel.run = run  # type: ignore[method-assign]
