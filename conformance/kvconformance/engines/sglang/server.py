"""Stand-ins for what SGLang's scheduler imports for its server and does not call here: found where nothing else is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAMES = frozenset({"einops", "fastapi", "setproctitle", "uvicorn"})


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
    """Finds, and loads, the modules of `NAMES` and everything below them."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The specification of a module of ours; None for others."""
        ours = name.split(".", maxsplit=1)[0] in NAMES
        return ModuleSpec(name, self, is_package=True) if ours else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module."""
        return _Anything(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def stand_in() -> None:
    """Be found in the place of what is not installed, from now on."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
