"""What variables of a process make a machine look like: other BLAS kernels, SIMD levels, threads, seeds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

CORES = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids")
"""Processors that OpenBLAS has kernels for, oldest first; a build may have the same for several of them."""
VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES")

_PROBE = """
import numpy, threadpoolctl
numpy.ones((64, 64)) @ numpy.ones((64, 64))
print(*(pool.get("architecture") for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"))
"""


@dataclass(frozen=True)
class Environment:
    """A name, and the variables that make it."""

    name: str
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` without what this machine has set for its own libraries, and with the variables of this one."""
        return {name: value for name, value in base.items() if name not in VARIABLES} | dict(self.variables)


def environments() -> Iterator[Environment]:
    """All that this machine can run, the machine as it is first; each differs from it in what its name says."""
    yield Environment("as it is")
    yield Environment("no SIMD of NumPy's", {"NPY_DISABLE_CPU_FEATURES": " ".join(_features())})
    yield Environment("one thread", {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    yield Environment("two threads", {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"})
    yield Environment("hash seed 0, Turkish, Kiritimati", _elsewhere("0", "tr_TR.UTF-8", "Pacific/Kiritimati", "40"))
    yield Environment("hash seed 4242, ASCII, wide", _elsewhere("4242", "C", "America/St_Johns", "200") | _ASCII)
    kernels = {_kernels(core): core for core in reversed(CORES)}
    yield from (Environment(core, {"OPENBLAS_CORETYPE": core}) for kernel, core in reversed(kernels.items()) if kernel)


def few() -> Iterator[Environment]:
    """The oldest machine and the strangest place beside the machine as it is: what fits into a minute."""
    yield Environment("as it is")
    features = {"NPY_DISABLE_CPU_FEATURES": " ".join(_features()), "OPENBLAS_NUM_THREADS": "1"}
    oldest = {"OPENBLAS_CORETYPE": CORES[0]} if _kernels(CORES[0]) else {}
    strange = _elsewhere("4242", "C", "Pacific/Kiritimati", "40") | _ASCII
    yield Environment("old processor, elsewhere", features | oldest | strange)


_ASCII = {"PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
"""Python takes the locale C for UTF-8 unless it is told not to."""


def _elsewhere(seed: str, locale: str, zone: str, columns: str) -> dict[str, str]:
    return {"PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone, "COLUMNS": columns}


def _features() -> list[str]:
    """SIMD levels that NumPy chose on this processor, above the one it was built for."""
    config: dict[str, Any] = np.show_config(mode="dicts")  # type: ignore[assignment, func-returns-value]
    return list(config["SIMD Extensions"].get("found", []))


def _kernels(core: str) -> str:
    """What NumPy's OpenBLAS calls the kernels that it takes for `core`; nothing if the processor does not survive."""
    environment = os.environ | {"OPENBLAS_CORETYPE": core}
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, env=environment, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
