"""The paged cache as a model to explore: states up to the names of blocks, packed into a few bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kvexamine.explorer.broken import Broken
from kvexamine.explorer.paged.checks import NOTHING, broken_choice, broken_move, broken_state, finished, idles
from kvexamine.explorer.paged.moves import Move, play, proposals
from kvexamine.explorer.paged.packing import Codec
from kvexamine.explorer.paged.profile import allowed
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.telling import held, history, spelt
from kvexamine.explorer.transition import Transition, honest
from kvexamine.telling.paged import tell
from kvspec.state import State


class PagedModel:
    """One scope of the paged cache, under one transition."""

    def __init__(self, scope: Scope, transition: Transition = honest) -> None:
        self.scope, self.transition = scope, transition
        self.codec = Codec(scope)

    def start(self) -> State:
        """Everybody waits."""
        return self.codec.start

    def key(self, state: State) -> bytes:
        """The parts of a state by number, in the order in which tables and the order of eviction name the blocks."""
        return self.codec.key(state)

    def proposals(self, state: State) -> Iterator[Move]:
        """Events of the alphabet, those that the guards forbid among them; under a scheduler those that it chooses."""
        for event in proposals(self.scope, state):
            if not self.scope.fcfs or allowed(state, event, self.scope.victim):
                yield (event,)

    def permitted(self, state: State) -> Iterable[Move]:
        """Nothing: `tests/spec/test_permits.py` says what an ordinary cache must be allowed."""
        return ()

    def play(self, state: State, move: Move) -> tuple[Move, State]:
        """The first event of a move with what follows from it, if all is allowed."""
        after = state.copy()
        return play(self.scope, self.transition, after, move[0]), after

    def broken_state(self, state: State) -> Broken | None:
        """The first invariant that does not hold."""
        return broken_state(self.scope, state)

    def broken_move(self, before: State, move: Move, after: State) -> Broken | None:
        """What is wrong with a move, or that it is none."""
        broken = broken_move(self.scope, before, after, move)
        if broken is None and idles(before, move, after) and self.key(before) == self.key(after):
            return NOTHING
        return broken

    def broken_choice(self, moves: Sequence[Move]) -> Broken | None:
        """What is refused though it fits."""
        return broken_choice(self.scope, moves)

    def finished(self, state: State) -> bool:
        """Whether everybody has been and gone, and nothing is on its way."""
        return finished(state)

    def history(self, moves: Iterable[Move], state: State) -> tuple[str, ...]:
        """The history in words, and what the blocks hold at its end."""
        world = self.scope.world
        told = ("; ".join(tell(event, world.block_size) for event in move) for move in moves)
        size = f"{world.num_blocks} blocks of {world.block_size}, budget {world.token_budget}"
        return history(f"{size}; {', '.join(map(spelt, self.scope.requests))}", told, held(state))
