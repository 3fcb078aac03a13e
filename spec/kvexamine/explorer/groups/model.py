"""Caches with several groups as a model to explore: states up to the names of blocks and steps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.groups.checks import broken_move, broken_state
from kvexamine.explorer.groups.finish import broken_future, view
from kvexamine.explorer.groups.lawful import lawful
from kvexamine.explorer.groups.moves import proposals
from kvexamine.explorer.groups.tell import contents, tell
from kvexamine.explorer.groups.world import GroupsWorld, Run, copied
from kvspec.groups import events as ev
from kvspec.groups.state import Block, State
from kvspec.groups.transition import advance
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId

Transition = Callable[[State, ev.Event], None]
"""Applies one event in place; raises `Violation` where it is refused."""

_TALLY = Tally()


def honest(state: State, event: ev.Event) -> None:
    """The specification's own transition."""
    advance(state, event, _TALLY)


class GroupsModel:
    """One small world of a cache with several groups, under one transition."""

    def __init__(self, small: GroupsWorld, transition: Transition = honest) -> None:
        self.small, self.transition = small, transition
        self.futures: dict[Hashable, Broken | None] = {}
        """What is known of the rest of a request, by all on which it depends."""

    def start(self) -> Run:
        """Everybody waits."""
        return Run(self.small.start(), tuple(request.id for request in self.small.requests))

    def key(self, run: Run) -> Hashable:
        """Blocks in the order in which the tables first name them, then the idle ones by what they are.

        Steps are numbered by their request and age. `last` is only for reports, `contexts` only grows.
        """
        state = run.state
        ages = {
            step: (live.request.id, age) for live in state.requests.values() for age, step in enumerate(live.flights)
        }
        return (
            run.waiting,
            tuple(_requests(state)),
            tuple(_pool(state, number, ages) for number in range(len(state.pools))),
        )

    def proposals(self, run: Run) -> Iterable[ev.Event]:
        """Events lawful and unlawful."""
        return proposals(self.small, run)

    def permitted(self, run: Run) -> Iterator[ev.Event]:
        """What a cache that works may do."""
        return lawful(self.small, run)

    def play(self, run: Run, event: ev.Event) -> Run:
        """The state after an event, if it is allowed."""
        after, waiting = copied(run.state), run.waiting
        self.transition(after, event)
        if isinstance(event, ev.Admit):
            waiting = tuple(id for id in waiting if id != event.request.id)
        return Run(after, waiting)

    def broken_state(self, run: Run) -> Broken | None:
        """What is wrong with what is held and read, or with what can become of a request."""
        return broken_state(run.state) or next(filter(None, self._futures(run.state)), None)

    def _futures(self, state: State) -> Iterator[Broken | None]:
        for live in state.requests.values():
            alone = len(state.requests) == 1
            place = (view(state, live), alone)
            if place not in self.futures:
                self.futures[place] = broken_future(state, live, self.transition)
            yield self.futures[place]

    def broken_move(self, before: Run, event: ev.Event, after: Run) -> Broken | None:
        """What is wrong with a step."""
        return broken_move(before, event, after)

    def finished(self, run: Run) -> bool:
        """Whether everybody has been and gone."""
        return not run.waiting and not run.state.requests

    def told(self, events: Iterable[ev.Event], run: Run) -> tuple[str, ...]:
        """The history in words, and what is held at its end."""
        lines = (f"{number:3}  {tell(event)}" for number, event in enumerate(events, 1))
        return (f"world: {self.small}", *lines, *contents(run.state))


def _requests(state: State) -> Iterator[Hashable]:
    """Each request without the names of its blocks."""
    for id in sorted(state.requests):
        live = state.requests[id]
        yield id, tuple(live.tokens), live.computed, tuple(live.filled), tuple(live.flights.values())


def _pool(state: State, number: int, ages: Mapping[int, tuple[str, int]]) -> Hashable:
    """The tables of a pool with blocks renamed, what each block is in that order, and the idle ones."""
    blocks, names = state.pools[number], dict[BlockId, int]()
    tables = []
    for id in sorted(state.requests):
        for group, table in enumerate(state.requests[id].tables):
            if state.layout.pool_of(group) == number:
                tables.append(tuple(None if b is None else names.setdefault(b, len(names)) for b in table))
    named = tuple(_block(blocks[id], ages) for id in names)
    idle = sorted((_block(block, ages) for id, block in enumerate(blocks) if id not in names), key=repr)
    return tuple(tables), named, tuple(idle)


def _block(block: Block, ages: Mapping[int, tuple[str, int]]) -> Hashable:
    writers = tuple(None if step is None else ages.get(step) for step in block.writers)
    return block.owner, block.ref, tuple(block.contexts), writers
