"""What a surface is, as a value, and an engine with adapters for some of them.

A factory takes a `World` and returns a fresh engine; an adapter class is its own factory. Its `capabilities` say what
it can do and which freedoms of the specification it uses. Adapters are plain classes with nothing to inherit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from hypothesis.strategies import SearchStrategy

from kvconformance.checker import PAGED, Checker, Machine
from kvconformance.history import History, Operation
from kvconformance.surfaces.situation import Operations, Situation
from kvconformance.telling.story import Story
from kvspec.rules import Rule
from kvspec.vocabulary import Capabilities, RequestId, Surface, TokenId, World

if TYPE_CHECKING:
    from kvexamine.explorer import Scope

Factory = Callable[[World], Any]

Sampler = Callable[[RequestId, Sequence[int]], TokenId]
"""What the model says next to a request, given its prompt and the tokens that the engine keeps for it."""


class Prepared(Protocol):
    """Optional on the adapter class of any surface, and used where present."""

    @staticmethod
    def prepare() -> None:
        """Called before each history, outside of its time limit: what takes seconds once, such as a first engine."""


class Driver(Protocol):
    """Leads one engine through one history and feeds what it does to a checker."""

    def run(self, operations: tuple[Operation, ...]) -> None:
        """Perform all operations. Raises `Violation` where the engine does what it must not."""


Want = tuple[str, Callable[[Any], object]]
"""What an engine lacks, in words, whose capabilities do not have this."""


@dataclass(frozen=True)
class Traffic:
    """What busy clients do, out of capabilities, dice and the number of a request: most of the time, and rarely."""

    usually: Callable[[Any, Random, int], Operation]
    rarely: Callable[[Any, Random, int], list[Operation]]


@dataclass(frozen=True)
class Letters:
    """What it takes to play every history of a small world."""

    after: Callable[[Scope, Any, Operations, Situation], Iterator[Operation]]
    """What may apply after these operations, which ended in this situation, beside arrivals, forks and resets."""
    lacks: Callable[[Scope, Any], Iterator[str]]
    """Why an engine with these capabilities cannot be tried in such a world."""
    chunks: bool = False
    """Whether the token budget of the world bounds what is asked for at once, and no step."""


def _as_it_is(world: World, capabilities: Capabilities) -> tuple[World, Capabilities]:
    return world, capabilities


@dataclass(frozen=True, kw_only=True)
class SurfaceKind:
    """All that the harness knows of one surface; `kvconformance.surfaces.registry.register` makes it known."""

    surface: Surface
    operations: tuple[type[Operation], ...]
    """What histories of it are made of."""
    required: tuple[str, ...]
    """The methods without which an object is not an adapter of it."""
    driver: Callable[[Factory, Checker], Driver]
    histories: Callable[[Any], SearchStrategy[History]]
    """What the search tries on an engine with these capabilities."""
    raises: Rule
    """The rule that an engine breaks which does not answer: it raises, hangs or dies."""
    fatal: Callable[[History], Rule | None] = lambda history: None
    """A better rule than `raises` for an engine that dies of a history, if there is one."""
    capabilities: type[Capabilities] = Capabilities
    declares: str = "an adapter declares"
    """Who declares `capabilities`, for whoever forgets it."""
    optional: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({"forks": "fork", "resets": "reset", "fails": "fail"})
    )
    """Capabilities, and the method without which an adapter does not have them."""
    needs: Mapping[Rule, str] = field(default_factory=lambda: MappingProxyType({}))
    """Rules that bind only an adapter with this method."""
    wants: Mapping[Rule, Want] = field(default_factory=lambda: MappingProxyType({}))
    """Rules that bind only an engine with such capabilities."""
    flaw: Callable[[Any], str] = lambda capabilities: ""
    """What is wrong with capabilities that are declared, if anything."""
    rules: frozenset[Rule] = frozenset()
    """Rules that bind an adapter, beside those of the registry that name the surface."""
    machine: Machine = PAGED
    """The machine of the specification that judges it."""
    setting: Callable[[World, Any], tuple[World, Any]] = _as_it_is
    """The world and the capabilities that the machine is given."""
    story: Story = field(default_factory=Story)
    traffic: Traffic | None = None
    """What is done where a trace is recorded; None where none can be."""
    letters: Letters | None = None
    """For the search of every history; None where there is no such search."""
    enough: int = 1_000
    """Examples after which an imposter counts as alive."""

    def read(self, data: bytes | str) -> History:
        """A history, as `to_json` writes it. Raises `ValueError` that says what is wrong and where."""
        return History.from_json(data, self.operations)

    def binds(self, rule: Rule) -> bool:
        """Whether it is a rule of this surface."""
        return self.surface in rule.surfaces or rule in self.rules

    def missing(self, thing: object) -> list[str]:
        """The required methods that an object lacks."""
        return [method for method in self.required if not hasattr(thing, method)]


@dataclass(frozen=True)
class Engine:
    """An engine under test: its name and version, and a factory for each surface that it claims."""

    name: str
    version: str
    factories: Mapping[Surface, Factory]
    notes: Mapping[str, str] = field(default_factory=dict)

    def capabilities(self, surface: Surface) -> Capabilities:
        """What the adapter of a surface declares."""
        declared: Capabilities = self.factories[surface].capabilities  # type: ignore[attr-defined]
        return declared
