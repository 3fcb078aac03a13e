"""The list of all imposters, in the order of the rules that they break."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

from kvconformance.adapters import as_engine
from kvconformance.imposters import (
    allocation,
    arrivals,
    believing,
    exits,
    group_hits,
    group_windows,
    hits,
    hybrids,
    kernel_offsets,
    kernel_paths,
    kernel_scales,
    kernels,
    key_parts,
    key_units,
    prefix,
    published,
    quantization,
    recency,
    refusals,
    releases,
    resuming,
    scheduling,
    security,
    shifts,
    tiers,
    trees,
    waiting,
)
from kvspec.rules import RULES, Rule
from kvspec.vocabulary import Capabilities, Surface, World


class Imposter(Protocol):
    """A faulty engine class: what it imitates, and the rule that must kill it."""

    __name__: str
    bug: str
    broken_rule: Rule
    capabilities: Capabilities

    def __call__(self, world: World) -> Any:
        """A fresh faulty engine."""


def surface_of(imposter: Imposter) -> Surface:
    """The surface on which the imposter is driven. Raises `NotAnAdapter` where it has the methods of none."""
    return next(iter(as_engine(imposter).factories))


def _imposters(module: ModuleType) -> list[Imposter]:
    own = [thing for thing in vars(module).values() if isinstance(thing, type) and thing.__module__ == module.__name__]
    return [thing for thing in own if "bug" in vars(thing)]  # type: ignore[misc]


_AREAS = (
    allocation,
    releases,
    refusals,
    exits,
    arrivals,
    tiers,
    prefix,
    hits,
    group_hits,
    group_windows,
    hybrids,
    key_parts,
    key_units,
    security,
    recency,
    published,
    trees,
    scheduling,
    waiting,
    resuming,
    believing,
    quantization,
    shifts,
    kernels,
    kernel_offsets,
    kernel_paths,
    kernel_scales,
)
_PLACES = {rule: place for place, rule in enumerate(RULES.values())}

IMPOSTERS: tuple[Imposter, ...] = tuple(
    sorted((one for area in _AREAS for one in _imposters(area)), key=lambda one: _PLACES[one.broken_rule])
)
