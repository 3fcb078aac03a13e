"""`@kernel`: one Triton function, compiled for CUDA tensors and interpreted faithfully for CPU tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache, cached_property
from typing import Any

from triton import knobs
from triton.backends.amd.compiler import HIPOptions
from triton.backends.nvidia.compiler import CUDAOptions
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from kvoptimized.interpreter import faithful


class LaunchRefused(ValueError):
    """A launch that no device could run as asked; the message names the kernel and the argument."""


class InterpretedWarning(UserWarning):
    """Kernels run in the interpreter, which is some thousand times slower than a GPU."""


class Kernel(JITFunction):  # type: ignore[misc]  # the installed package is untyped
    """A Triton function that may be launched on either device, and called from other kernels in either mode.

    It is itself a `JITFunction`, so that the compiler accepts it as a device function of another kernel. Under
    TRITON_INTERPRET=1 every launch is interpreted, as with `triton.jit`.
    """

    @cached_property
    def compiled(self) -> Any:
        """The plain `JITFunction`, for offline compilation and for launches that must not be interpreted."""
        return JITFunction(self.fn)

    @cached_property
    def interpreted(self) -> Any:
        """The interpreted function; launch it inside `kvoptimized.interpreter.faithful()`."""
        return InterpretedFunction(self.fn)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **named: Any) -> Any:
        """Launch over `grid`: compiled where the tensors are on a GPU, interpreted where they are on the CPU.

        Raises LaunchRefused for tensors on both, on the meta device or fake, and for an unknown keyword.
        """
        if warmup or not self._interprets(args, named):
            return self.compiled.run(*args, grid=grid, warmup=warmup, **named)
        self._refuse_unknown(named)
        _warn_once()
        with faithful():
            return self.interpreted.run(*args, grid=grid, warmup=False, **named)

    def _interprets(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
        kinds = {kind: name for name, kind in _devices((*zip(self.arg_names, args, strict=False), *named.items()))}
        if strange := kinds.keys() - {"cpu", "cuda"}:
            kind = min(strange)
            raise LaunchRefused(f"kernel {self.__name__}: argument {kinds[kind]} is on device {kind}; use cpu or cuda")
        if len(kinds) > 1:
            raise LaunchRefused(
                f"kernel {self.__name__}: argument {kinds['cpu']} is on the CPU and {kinds['cuda']} on a GPU; "
                "move them to one device"
            )
        return "cpu" in kinds or bool(knobs.runtime.interpret)

    def _refuse_unknown(self, named: Mapping[str, Any]) -> None:
        if unknown := sorted(named.keys() - set(self.arg_names) - launch_options()):
            raise LaunchRefused(
                f"kernel {self.__name__}: {unknown[0]} is neither a parameter nor a launch option of Triton; "
                f"the parameters are {', '.join(self.arg_names)}"
            )


def kernel(function: Callable[..., Any]) -> Kernel:
    """Decorate a kernel or a device function that kernels call; the launch decides how it runs, not the decoration."""
    return Kernel(function)


@cache
def launch_options() -> frozenset[str]:
    """Keywords that a launch may carry beside the kernel's parameters, such as num_warps."""
    return frozenset(field.name for options in (CUDAOptions, HIPOptions) for field in fields(options))


def _devices(arguments: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, str]]:
    for name, value in arguments:
        if isinstance(value, tuple | list):
            yield from _devices((f"{name}[{index}]", item) for index, item in enumerate(value))
        elif hasattr(value, "base") and hasattr(value, "block_shape"):
            yield from _devices([(name, value.base)])
        elif hasattr(value, "data_ptr"):
            yield name, "fake" if hasattr(value, "fake_mode") else value.device.type


@cache
def _warn_once() -> None:
    warnings.warn(
        "kernels run in the Triton interpreter because the tensors are on the CPU: right, but slow",
        InterpretedWarning,
        stacklevel=4,
    )
