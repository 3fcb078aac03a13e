"""Caches with several groups as a model to explore: states up to the names of blocks and steps."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.groups.checks import broken_move, broken_state
from kvexamine.explorer.groups.finish import broken_future, view
from kvexamine.explorer.groups.lawful import lawful
from kvexamine.explorer.groups.moves import proposals
from kvexamine.explorer.groups.world import GroupsWorld, Move, flights, running
from kvexamine.explorer.telling import held, history
from kvexamine.explorer.transition import Transition, honest
from kvexamine.telling.paged import tell
from kvspec.state import Block, State
from kvspec.vocabulary import BlockId, StepId


class GroupsModel:
    """One small world of a cache with several groups, under one transition."""

    def __init__(self, small: GroupsWorld, transition: Transition = honest) -> None:
        self.small, self.transition = small, transition
        self.futures: dict[Hashable, Broken | None] = {}
        """What is known of the rest of a request, by all on which it depends."""

    def start(self) -> State:
        """Everybody waits."""
        return self.small.start()

    def key(self, state: State) -> Hashable:
        """Blocks in the order in which the tables first name them, then the idle ones by what they are.

        Steps are numbered by their request and age. What only reports read is left out, and `contexts` only grows.
        """
        live = state.live()
        ages = {step: ("", age) for age, step in enumerate(state.in_flight)}
        ages |= {step: (one.request.id, age) for one in live for age, step in enumerate(flights(state, one))}
        pools = range(state.layout.num_pools)
        strays = len(state.in_flight) - sum(len(flights(state, one)) for one in live)
        on_the_way = tuple(sorted(state.transfers)), tuple(sorted(state.arriving)), strays
        return on_the_way, tuple(_requests(state)), tuple(_pool(state, number, ages) for number in pools)

    def proposals(self, state: State) -> Iterable[Move]:
        """Moves lawful and unlawful."""
        return proposals(self.small, state)

    def permitted(self, state: State) -> Iterator[Move]:
        """What a cache that works may do."""
        return lawful(self.small, state)

    def play(self, state: State, move: Move) -> tuple[Move, State]:
        """A move and the state after it, if it is allowed."""
        after = state.copy()
        for event in move:
            self.transition(after, event)
        return move, after

    def broken_state(self, state: State) -> Broken | None:
        """What is wrong with what is held and read, or with what can become of a request."""
        return broken_state(state) or next(filter(None, self._futures(state)), None)

    def _futures(self, state: State) -> Iterator[Broken | None]:
        for live in running(state):
            if live.transfer is not None:
                continue
            place = (view(state, live), len(running(state)) == 1)
            if place not in self.futures:
                self.futures[place] = broken_future(state, live, self.transition)
            yield self.futures[place]

    def broken_move(self, before: State, move: Move, after: State) -> Broken | None:
        """What is wrong with a step."""
        return broken_move(before, move, after)

    def broken_choice(self, moves: Sequence[Move]) -> Broken | None:
        """Nothing: what is refused is judged move by move."""
        return None

    def finished(self, state: State) -> bool:
        """Whether everybody has been and gone."""
        return not state.live()

    def history(self, moves: Iterable[Move], state: State) -> tuple[str, ...]:
        """The history in words, and what is held at its end."""
        told = ("; ".join(tell(event, 1) for event in move) for move in moves)
        return history(str(self.small), told, held(state))


def _requests(state: State) -> Iterator[Hashable]:
    """Each request without the names of its blocks."""
    for live in state.live():
        starts = tuple(flights(state, live).values())
        host = None if live.swapped is None else tuple(live.swapped)
        yield live.request.id, live.phase, tuple(live.tokens), live.computed, tuple(live.filled), starts, host


def _pool(state: State, number: int, ages: Mapping[StepId, tuple[str, int]]) -> Hashable:
    """The tables of a pool with blocks renamed, what each block is in that order, and the idle ones."""
    names = dict[BlockId, int]()
    tables = []
    for live in running(state):
        for group, table in enumerate(live.tables):
            if state.layout.pool_of(group) == number:
                tables.append(tuple(None if b is None else names.setdefault(b, len(names)) for b in table))
    named = tuple(_block(state.blocks[id], ages) for id in names)
    size = state.world.num_blocks
    own = range(number * size, (number + 1) * size)
    idle = sorted((_block(state.blocks[id], ages) for id in own if BlockId(id) not in names), key=repr)
    return tuple(tables), named, tuple(idle)


def _block(block: Block, ages: Mapping[StepId, tuple[str, int]]) -> Hashable:
    writers = tuple(None if writer is None else ages.get(StepId(writer[1])) for writer in block.writers)
    return block.owner, block.ref, tuple(block.contexts), writers, tuple(sorted(block.fence))
