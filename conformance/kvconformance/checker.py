"""The checker: feeds what an engine does to the specification, and asks the engine what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kvconformance import records
from kvconformance.answers import whole
from kvspec import events as ev
from kvspec import rules
from kvspec.blame import begin, judge
from kvspec.groups.state import State as GroupsState
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.tree.state import TreeState
from kvspec.violation import HarnessFault, Tally, Violation, Waived
from kvspec.vocabulary import Capabilities, World


@dataclass(frozen=True)
class Said:
    """An effect that is only told."""

    text: str


class Checker:
    """The newest state of the specification beside an engine, and every event that led to it.

    `events` holds operations (as the driver names them) and events in order; a finding prints them.
    """

    def __init__(self, world: World, capabilities: Capabilities, tally: Tally | None = None) -> None:
        self.tally = tally or Tally()
        self.judged = begin(world, capabilities)
        self.events: list[object] = []
        self.groups: GroupsState | None = None
        self.tree: TreeState | None = None

    @property
    def state(self) -> State:
        """The newest state."""
        return self.judged.state

    def note(self, operation: object) -> None:
        """An operation begins; the events that follow are its effect."""
        self.events.append(operation)

    def say(self, text: str) -> None:
        """What happened, in words, where it is no event of the specification."""
        self.events.append(Said(text))

    def feed(self, event: ev.Event) -> None:
        """The engine did this. Raises `Violation` if it must not."""
        self.events.append(event)
        judge(self.judged, event, self.tally)


class Observer:
    """Collects the self-descriptions that an engine offers."""

    def __init__(self, engine: Any) -> None:
        self._free = engine.free_blocks
        self._refs = getattr(engine, "ref_counts", None)
        self._tables = getattr(engine, "tables", None)
        self._free_set = getattr(engine, "free_set", None)
        self._keyed = getattr(engine, "keyed_blocks", None)
        self._queues = getattr(engine, "queues", None)
        self._counters = getattr(engine, "counters", None)
        self._events = getattr(engine, "take_events", None)

    def observe(self) -> ev.Observe:
        """What the engine says now. Raises `HarnessFault` where an answer has not the type that its method promises."""
        waiting, running = records.pair(self._queues(), "queues", records.names) if self._queues else (None, None)
        return ev.Observe(
            free=whole(self._free(), "free_blocks"),
            refs=records.counts(self._refs(), "ref_counts") if self._refs else None,
            tables=records.tables(self._tables(), "tables") if self._tables else None,
            free_set=records.listed(self._free_set(), "free_set") if self._free_set else None,
            keyed=records.blocks(self._keyed(), "keyed_blocks") if self._keyed else None,
            waiting=waiting,
            running=running,
            counters=records.pair(self._counters(), "counters", whole) if self._counters else None,
            published=records.published(self._events(), "take_events") if self._events else None,
        )


class Guarded:
    """Calls an engine; an exception that is no answer breaks `rule` instead of breaking us."""

    def __init__(self, checker: Checker, rule: Rule) -> None:
        self.checker = checker
        self.rule = rule

    def __call__(self, doing: str, call: Any, *arguments: Any, answers: tuple[type[Exception], ...] = ()) -> Any:
        """The engine's answer; exceptions in `answers` pass, ours too."""
        try:
            return call(*arguments)
        except Exception as error:  # whatever a stranger's engine raises is a finding
            if isinstance(error, (*answers, Violation, Waived, HarnessFault)):
                raise
            self.checker.tally.broken(
                self.rule,
                f"{doing} raises {type(error).__name__}: {str(error)[:300]}",
                "an answer",
                raised=type(error).__name__,
            )
            raise Waived(self.rule.id) from error


STEPPER_RAISES = rules.PROGRESS_OR_REJECT
POOL_RAISES = rules.FIT_AGREES_WITH_ALLOCATE
TREE_RAISES = rules.FIT_AGREES_WITH_ALLOCATE
GENERATOR_RAISES = rules.PROGRESS_OR_REJECT
ATTENTION_RAISES = rules.DECLARED_TOLERANCE
QUANTIZER_RAISES = rules.HALF_STEP
