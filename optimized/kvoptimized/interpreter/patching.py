"""Attributes that are replaced for a while and put back exactly as they were."""

from __future__ import annotations

from collections.abc import Mapping
from threading import RLock
from types import ModuleType
from typing import Any

exclusive = RLock()
"""Held while Triton's attributes are replaced or put back, and while a launch relies on what they are."""

_ABSENT = object()


class Patches:
    """Replaced attributes of modules, classes and objects; `undo` restores them, the newest first."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, dict[str, Any]]] = []

    def set_attr(self, owner: Any, name: str, value: Any) -> None:
        """Replace `owner.name`; what an owner only inherited is taken away again by `undo`."""
        self._replaced.append((owner, {name: vars(owner).get(name, _ABSENT)}))
        setattr(owner, name, value)

    def set_all(self, owner: Any, values: Mapping[str, Any]) -> None:
        """Replace several attributes of one owner; for a module, all at once."""
        if not isinstance(owner, ModuleType):
            for name, value in values.items():
                self.set_attr(owner, name, value)
            return
        before = vars(owner)
        self._replaced.append((owner, {name: before.get(name, _ABSENT) for name in values}))
        before.update(values)

    def undo(self) -> None:
        """Put everything back."""
        while self._replaced:
            owner, before = self._replaced.pop()
            for name, value in before.items():
                if value is _ABSENT:
                    delattr(owner, name)
                else:
                    setattr(owner, name, value)
