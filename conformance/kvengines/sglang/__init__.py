"""SGLang: its radix cache (Tree), its page allocators (Pool) and its scheduler (Stepper), on a CPU without a model.

Its dependencies conflict with those of the other engines: it is installed in an environment of its own, in which
`make engines` checks it.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from kvconformance.surfaces import Engine
from kvengines.sglang.stand_ins import stand_in
from kvspec.vocabulary import Surface

DISTRIBUTION = "sglang"


def engine() -> Engine:
    """The installed SGLang; the first call imports it and compiles its hashes. Raises `ImportError`."""
    pool, tree, stepper = load("pool", "tree", "stepper")
    compile_hashes()
    factories = {
        Surface.POOL: pool.SglangPool,
        Surface.TREE: tree.SglangTree,
        Surface.STEPPER: stepper.SglangStepper,
    }
    return Engine("sglang", version(DISTRIBUTION), factories)


def hybrid_engine() -> Engine:
    """Its scheduler with several groups of layers. Raises `ImportError`."""
    (hybrid,) = load("hybrid")
    return Engine("sglang-hybrid", version(DISTRIBUTION), {Surface.STEPPER: hybrid.SglangHybrid})


def load(*names: str) -> list[ModuleType]:
    """The modules of ours that import SGLang, without what it says to a terminal. Raises `ImportError`."""
    version(DISTRIBUTION)
    stand_in()
    logging.getLogger("sglang").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says of every quantization which accelerators it wants
        return [importlib.import_module(f"{__name__}.{name}") for name in names]


def compile_hashes() -> None:
    """The hashes of published events are C++ that is compiled on first use: here, and not while an example runs."""
    os.environ.setdefault("TORCH_EXTENSIONS_DIR", str(Path(sys.prefix) / "torch_extensions"))
    utils = importlib.import_module("sglang.srt.mem_cache.utils")
    try:
        utils.get_hash_str([0], page_size=1)
    except RuntimeError as error:
        raise ImportError(f"{error}: it needs a C++ compiler and the headers of OpenSSL") from error
