"""`@kernel`: one Triton function, compiled for CUDA tensors and interpreted faithfully for CPU tensors."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch
import triton
from triton import knobs
from triton.backends.amd.compiler import HIPOptions
from triton.backends.nvidia.compiler import CUDAOptions
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from kvoptimized.interpreter import faithful
from kvoptimized.interpreter.patching import exclusive

DEVICES = ("cpu", "cuda")


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

        It is launched on the GPU of its tensors, whichever is the current one. Raises LaunchRefused for tensors on
        two devices, on the meta device or fake, and for an unknown keyword. Threads launch one after another.
        """
        place = self._place(args, named)
        if warmup or not (knobs.runtime.interpret or (place is not None and place.type == "cpu")):
            with exclusive, _current(place):
                return self.compiled.run(*args, grid=grid, warmup=warmup, **named)
        self._refuse_unknown(named)
        _warn_once()
        with exclusive, faithful():
            return self.interpreted.run(*args, grid=grid, warmup=False, **named)

    def _place(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> torch.device | None:
        """Where the tensors are; None where there is none."""
        places = {place: name for name, place in _devices((*zip(self.arg_names, args, strict=False), *named.items()))}
        for place, name in places.items():
            if place.type not in DEVICES:
                raise LaunchRefused(f"kernel {self.__name__}: argument {name} is on device {place}; use cpu or cuda")
        if len(places) > 1:
            (one, first), (other, second) = sorted(places.items(), key=lambda item: str(item[0]))[:2]
            raise LaunchRefused(
                f"kernel {self.__name__}: argument {first} is on {one} and {second} on {other}; move them to one device"
            )
        return next(iter(places), None)

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


def _current(place: torch.device | None) -> AbstractContextManager[Any]:
    """Makes the GPU of the tensors the current one, which is where Triton launches."""
    if place is None or place.index is None or place.index == torch.cuda.current_device():
        return nullcontext()
    entered: AbstractContextManager[Any] = torch.cuda.device(place)
    return entered


def _devices(arguments: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, torch.device]]:
    for name, value in arguments:
        if isinstance(value, tuple | list):
            yield from _devices((f"{name}[{index}]", item) for index, item in enumerate(value))
        elif hasattr(value, "base") and hasattr(value, "block_shape"):
            yield from _devices([(name, value.base)])
        elif hasattr(value, "data_ptr"):
            yield name, torch.device("meta") if hasattr(value, "fake_mode") else value.device


@cache
def _warn_once() -> None:
    warnings.warn(
        "kernels run in the Triton interpreter because the tensors are on the CPU: right, but slow",
        InterpretedWarning,
        stacklevel=_outside(),
    )


def _outside() -> int:
    """How many frames up the caller of these kernels is: neither ours, nor of torch or Triton."""
    ours = tuple(str(Path(package).parent) for package in (__file__, torch.__file__, triton.__file__))
    frames = (frame for frame, _ in traceback.walk_stack(sys._getframe(1)))
    return next((level for level, frame in enumerate(frames, 1) if not frame.f_code.co_filename.startswith(ours)), 1)
