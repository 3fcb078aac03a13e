"""A scope of a model whose world says all about it, as those of several groups and of radix trees do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from kvexamine.explorer.groups.world import GroupsWorld
from kvexamine.explorer.tree.world import TreeWorld

W = TypeVar("W", bound=GroupsWorld | TreeWorld)


@dataclass(frozen=True)
class WorldScope(Generic[W]):
    """One small world that is explored. `large` ones only by name."""

    name: str
    about: str
    world: W
    large: bool = False

    @property
    def of(self) -> str:
        """The model that explores it."""
        return "groups" if isinstance(self.world, GroupsWorld) else "tree"

    def __str__(self) -> str:
        """The world in a line."""
        return str(self.world)
