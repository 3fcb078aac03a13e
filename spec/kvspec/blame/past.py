"""What went before, as far as it chooses the name of a finding. No rule is decided by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from kvspec import events as ev
from kvspec.state import Live, State
from kvspec.vocabulary import DONE, BlockId, KeyParts, RequestId, TokenId

Prompt = tuple[tuple[TokenId, ...], KeyParts]
"""The first block of a prompt, and what else its key must cover."""

_ENDS = (ev.Reject, ev.Preempt, ev.SwapOut, ev.Finish, ev.Abort, ev.Release, ev.FailStep)


@dataclass(slots=True)
class Past:
    """A fold over events. `last` is the newest that says how later self-descriptions came to be wrong."""

    last: ev.Event | None = None
    waits_since: dict[RequestId, int] = field(default_factory=dict)
    """The step in which each request was added or preempted."""
    looked_up: dict[RequestId, tuple[BlockId, ...]] = field(default_factory=dict)
    """The blocks that a lookup found for a request that has not started since."""
    lost: dict[BlockId, dict[int, int]] = field(default_factory=dict)
    """By block, the full contexts that it held before, each with the step in which it last changed hands."""
    prompts: dict[tuple[int, ...], set[Prompt]] = field(default_factory=dict)
    """The first blocks of all prompts, by their tokens cut to eight bits."""
    indexed: frozenset[BlockId] | None = None
    """The blocks that the index named when it was last told."""
    resumed_hit_tokens: int = 0

    def copy(self) -> Past:
        """An independent copy."""
        return replace(
            self,
            waits_since=dict(self.waits_since),
            looked_up=dict(self.looked_up),
            lost={id: dict(contexts) for id, contexts in self.lost.items()},
            prompts={first: set(seen) for first, seen in self.prompts.items()},
        )

    @property
    def refused(self) -> bool:
        """Whether an operation was refused last, after which nothing may have changed."""
        reset = isinstance(self.last, ev.Reset) and not self.last.accepted
        return reset or isinstance(self.last, ev.Refuse | ev.Decline)

    def ended(self, state: State) -> bool:
        """Whether somebody has just left or been dropped, or nobody is there and nothing is in flight."""
        if isinstance(self.last, _ENDS):
            return True
        if self.refused or isinstance(self.last, ev.Lookup) or any(state.in_flight.values()):
            return False
        return all(live.phase is DONE for live in state.present.values())

    def before(self, state: State, event: ev.Event) -> None:
        """The event is about to happen: the blocks that it hands out lose what they hold."""
        if (taken := _TAKEN.get(type(event))) is not None:
            self.lose(state, taken(state, event))

    def lose(self, state: State, ids: Iterable[BlockId | None]) -> None:
        """These blocks change hands in this step."""
        for id in ids:
            if id is None or not 0 <= id < len(state.blocks):
                continue
            context = state.blocks[id].contexts[-1]
            if context is not None:
                self.lost.setdefault(id, {})[context] = state.step

    def follow(self, state: State, event: ev.Event) -> None:
        """The event has happened."""
        kind = type(event)
        if (remember := _REMEMBER.get(kind)) is not None:
            remember(self, state, event)
        if kind is not ev.Observe and not (isinstance(event, ev.Abort) and self._only_asked(state, event)):
            self.last = event

    def _only_asked(self, state: State, event: ev.Abort) -> bool:
        """Whether somebody goes who was refused or told a hit, has held nothing, and gives nothing back."""
        if not isinstance(self.last, ev.Refuse | ev.Lookup):
            return False
        return self.last.request == event.request and not state.requests[event.request].started


def narrow(tokens: tuple[TokenId, ...]) -> tuple[int, ...]:
    """Tokens cut to eight bits, as a faulty key might cut them."""
    return tuple(token & 0xFF for token in tokens)


def first_block(state: State, live: Live) -> tuple[TokenId, ...]:
    """The tokens of the first block of a prompt."""
    return tuple(live.request.prompt[: state.layout.groups[0].block_size])


def _new_entries(state: State, event: ev.Reserve | ev.Compute | ev.Waste) -> Iterable[BlockId | None]:
    live = state.requests.get(event.request)
    for table, own in zip(event.tables, live.tables if live else (), strict=False):
        yield from table[len(own) :]


def _forked(state: State, event: ev.Fork) -> Iterable[BlockId | None]:
    live = state.requests.get(event.parent)
    for table, old in zip(event.tables, live.tables if live else (), strict=False):
        yield from (mine for mine, theirs in zip(table, old, strict=False) if mine != theirs)


def _all_entries(state: State, event: ev.SwapIn) -> Iterable[BlockId | None]:
    return (id for table in event.tables for id in table)


_TAKEN: Mapping[type, Callable[[State, Any], Iterable[BlockId | None]]] = MappingProxyType(
    {
        ev.Reserve: _new_entries,
        ev.Compute: _new_entries,
        ev.Waste: _new_entries,
        ev.Copy: lambda state, event: (event.target,),
        ev.Fork: _forked,
        ev.SwapIn: _all_entries,
    }
)


def _added(past: Past, state: State, event: ev.Add) -> None:
    past.waits_since[event.request.id] = state.step
    first = first_block(state, state.requests[event.request.id])
    past.prompts.setdefault(narrow(first), set()).add((first, event.request.parts))


def _started(past: Past, state: State, event: ev.Start) -> None:
    past.looked_up.pop(event.request, None)
    if state.requests[event.request].resumed:
        past.resumed_hit_tokens += event.hit


def _forks(past: Past, state: State, event: ev.Fork) -> None:
    past.waits_since[event.child.id] = past.waits_since.get(event.parent, state.step)


def _preempted(past: Past, state: State, event: ev.Preempt) -> None:
    past.waits_since[event.request] = state.step


def _observed(past: Past, state: State, event: ev.Observe) -> None:
    past.indexed = past.indexed if event.keyed is None else event.keyed


def _told(past: Past, state: State, event: ev.Lookup) -> None:
    past.looked_up[event.request] = tuple(id for table in event.tables for id in table if id is not None)


_REMEMBER: Mapping[type, Callable[[Past, State, Any], None]] = MappingProxyType(
    {
        ev.Add: _added,
        ev.Start: _started,
        ev.Fork: _forks,
        ev.Preempt: _preempted,
        ev.Lookup: _told,
        ev.Observe: _observed,
    }
)
