"""The Triton kernels of kvoptimized behind the surfaces that everybody uses: on a GPU, or interpreted without one."""

from __future__ import annotations

from importlib.metadata import version

from kvconformance.engines.kvoptimized.attention import KernelAttention
from kvconformance.engines.kvoptimized.quantizer import KernelQuantizer, device
from kvconformance.surfaces import Engine
from kvconformance.telling.report import kvspec_version
from kvspec.vocabulary import Surface


def engine() -> Engine:
    """The kernels of this package with the installed Triton."""
    runs = "interpreted" if device() == "cpu" else f"on {device()}"
    installed = f"{kvspec_version()}, triton {version('triton')} {runs}, torch {version('torch')}"
    factories = {Surface.QUANTIZER: KernelQuantizer, Surface.ATTENTION: KernelAttention}
    return Engine("kvoptimized", installed, factories)
