"""Offline compilation: Triton's own compiler, for a target that need not be there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kvoptimized.static.registry import Specialisation, is_amd

CACHE = "TRITON_CACHE_DIR"
_DIVISIBLE = [["tt.divisibility", 16]]


class NotCompiled(Exception):
    """The compiler refused a kernel; the message names the kernel and the target, and ends with what it said."""


@dataclass(frozen=True)
class Compiled:
    """What came out: `text` is PTX or AMD's assembly, `binary` the cubin or None, `shared` bytes, `threads`."""

    text: str
    binary: bytes | None
    shared: int
    threads: int


def compiled(specialisation: Specialisation, target: str) -> Compiled:
    """Compile for `target`, such as `sm_90`. Raises `NotCompiled`."""
    kernel = specialisation.kernel.compiled
    constants = specialisation.constants_for(target)
    signature = {name: specialisation.signature.get(name, "constexpr") for name in kernel.arg_names}
    attributes = {(kernel.arg_names.index(name),): _DIVISIBLE for name in specialisation.divisible}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
    try:
        result: Any = triton.compile(source, target=_gpu(target), options=specialisation.options_for(target))
    except Exception as error:
        raise NotCompiled(f"{specialisation.name} for {target}: {_reason(error)}") from error
    threads = result.metadata.num_warps * result.metadata.target.warp_size
    if is_amd(target):
        return Compiled(result.asm["amdgcn"], None, result.metadata.shared, threads)
    return Compiled(result.asm["ptx"], result.asm["cubin"], result.metadata.shared, threads)


def _reason(error: BaseException) -> str:
    """The last line of the innermost cause, as errors of the compiler quote the source first."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__


def _gpu(target: str) -> Any:
    return GPUTarget("hip", target, 64) if is_amd(target) else GPUTarget("cuda", int(target.removeprefix("sm_")), 32)


@contextmanager
def fresh_cache() -> Iterator[None]:
    """Compile into a directory that ends with the block, unless the environment names one."""
    if CACHE in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory() as directory:
        os.environ[CACHE] = directory
        try:
            yield
        finally:
            del os.environ[CACHE]
