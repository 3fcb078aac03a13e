"""A stand-in for torchvision, whose wheels cannot be loaded beside a CPU build of torch.

SGLang imports it for its multimodal models, of which nothing is used here. transformers looks for the real one when it
is imported, so it comes first.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAME = "torchvision"


class _Anything(ModuleType):
    """A module that has a class of every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _Finder:
    """Finds, and loads, torchvision and everything below it."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The specification of a module of ours; None for others."""
        ours = name.split(".", maxsplit=1)[0] == NAME
        return ModuleSpec(name, self, is_package=True) if ours else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module."""
        return _Anything(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def stand_in() -> None:
    """Be found in the place of torchvision from now on, unless it has been imported."""
    importlib.import_module("transformers")
    if NAME not in sys.modules:
        sys.meta_path.insert(0, _Finder())
