"""Which surfaces there are: those of this package, and those that others register."""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from kvconformance.history import History
from kvconformance.surfaces import attention, generator, groups, pool, quantizer, stepper, tree
from kvconformance.surfaces.base import Letters, SurfaceKind
from kvspec.violation import HarnessFault
from kvspec.vocabulary import Capabilities, Surface

_KINDS: dict[Surface, SurfaceKind] = {}


def register(kind: SurfaceKind) -> None:
    """From now on engines can have this surface. Raises `ValueError` where there is one of its name."""
    if kind.surface in _KINDS:
        raise ValueError(f"the surface {kind.surface.value} is registered already")
    _KINDS[kind.surface] = kind


def kinds() -> tuple[SurfaceKind, ...]:
    """All surfaces. An object with the methods of several is taken for the first."""
    return tuple(_KINDS.values())


def kind_of(surface: Surface) -> SurfaceKind:
    """The record of a surface. Raises `KeyError` for one that is not registered."""
    return _KINDS[surface]


def letters_of(surface: Surface) -> Letters:
    """For a search of every history. Raises `HarnessFault` for a surface that has none."""
    letters = kind_of(surface).letters
    if letters is None:
        raise HarnessFault(f"there is no search of every history on the surface {surface.value}")
    return letters


def named(text: str) -> Surface:
    """The surface of this name. Raises `ValueError` where there is none."""
    if (surface := Surface(text)) not in _KINDS:
        names = ", ".join(kind.surface.value for kind in kinds())
        raise ValueError(f"no surface is called {text!r}; there are {names}")
    return surface


def surface_of(thing: object) -> Surface | None:
    """The surface whose methods an object has."""
    return next((kind.surface for kind in kinds() if not kind.missing(thing)), None)


def histories(surface: Surface, capabilities: Capabilities) -> SearchStrategy[History]:
    """Histories for one surface of an engine with these capabilities."""
    return kind_of(surface).histories(capabilities)


for _room in (pool, stepper, groups, tree, generator, quantizer, attention):
    register(_room.SURFACE)
