"""Stand-ins for packages that SGLang imports and does not call here.

Those of its server are found where nothing else is. torchvision, which it wants for multimodal models, has no wheels
that can be loaded beside a CPU build of torch, so its stand-in comes before the real one; transformers looks for the
real one when it is imported, and is imported before.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

SERVER = frozenset({"einops", "fastapi", "setproctitle", "uvicorn"})
VISION = "torchvision"


class _Whatever:
    """Takes any call and has any attribute; as a decorator it changes nothing."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return arguments[0] if arguments and callable(arguments[0]) else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class _Anything(ModuleType):
    """A module that has a class of every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Whatever,), {})


class _Finder:
    """Finds, and loads, the packages of these names and everything below them."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The specification of a module of ours; None for others."""
        ours = name.split(".", maxsplit=1)[0] in self.names
        return ModuleSpec(name, self, is_package=True) if ours else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module."""
        return _Anything(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def stand_in() -> None:
    """Be found in the place of what is missing from now on; what has been imported stays."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    importlib.import_module("transformers")
    if VISION not in sys.modules:
        sys.meta_path.insert(0, _Finder(frozenset({VISION})))
    sys.meta_path.append(_Finder(SERVER))
