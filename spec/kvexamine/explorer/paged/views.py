"""What one request can do, computed by the transition once for each view of it and then looked up.

A view is a state cut down to one request, the blocks of its table, and the idle blocks that it could take (for one
that waits: the blocks that it could hit). Other requests stand by, waiting, without blocks. What
others hold is accounted for by adding their references to the holders of a block. `Scope.local` tells where the cut
changes nothing; the tests compare every move with that of the whole state.
"""

from __future__ import annotations

from typing import NamedTuple

from kvexamine.explorer.broken import Broken, Wrong, tried
from kvexamine.explorer.paged.checks import broken_choice, broken_move, broken_tokens
from kvexamine.explorer.paged.components import Numbered
from kvexamine.explorer.paged.moves import Move, of_request, play
from kvexamine.explorer.paged.packing import Codec
from kvexamine.explorer.transition import Transition
from kvspec import events as ev
from kvspec.invariants import broken_block, broken_request, broken_step
from kvspec.state import State
from kvspec.vocabulary import BlockId, RequestId


class Moved(NamedTuple):
    """What becomes of tables and of the order of eviction, in names of the view."""

    tables: tuple[tuple[int, tuple[int, ...]], ...]
    left: tuple[int, ...]
    """Those that have left the order of eviction, if only to join it again."""
    joined: tuple[int, ...]
    """Those that have become idle, in order."""


class Outcome(NamedTuple):
    """One move in a view, whose blocks are named by their places in it."""

    header: int
    people: tuple[tuple[int, int], ...]
    """The requests that changed: place in a row, local part."""
    blocks: tuple[tuple[int, int], ...]
    """The blocks that changed: place in the view, number."""
    change: int | None
    """The number of `moved`; None where every table and idle block stays in its place."""
    moved: Moved


class Views:
    """The outcomes of one scope under one transition."""

    def __init__(self, codec: Codec, transition: Transition) -> None:
        self.codec, self.scope, self.transition = codec, codec.scope, transition
        self.found: dict[tuple[int, ...], list[Outcome]] = {}
        self.ends: dict[tuple[int, ...], tuple[int, ...] | None] = {}
        self.ended: dict[tuple[int, int], tuple[int, int] | None] = {}
        self.changes = Numbered[Moved]()
        self.bystanders = codec.bystanders()

    def of_request(
        self, place: int, header: int, local: int, forked: bool, own: int, blocks: tuple[int, ...]
    ) -> list[Outcome]:
        """The outcomes for the request whose table names the first `own` of `blocks`; the rest is idle or not its own.

        `forked` tells whether a fork is already there.

        Raises `Wrong` where the request, or a state that it can bring about, breaks an invariant.
        """
        everyone = list(self.bystanders)
        if self.scope.child is not None and not forked:
            everyone[-1] = 0
        everyone[place] = local
        tables: list[tuple[int, ...]] = [()] * len(everyone)
        tables[place] = tuple(range(own))
        state = self.codec.state(header, everyone, tables, blocks)
        name = self.codec.names[place]
        for rule, what in broken_request(state, state.requests[name]):
            raise Wrong(Broken(rule, what))
        outcomes, moves = [], []
        for event in of_request(self.scope, state, state.requests[name]):
            after = state.copy()
            if (move := tried(play, self.scope, self.transition, after, event)) is not None:
                moves.append(move)
                outcomes.append(self._outcome(state, after, move, name, blocks))
        if (broken := broken_choice(self.scope, moves)) is not None:
            raise Wrong(broken)
        return outcomes

    def _outcome(self, before: State, after: State, move: Move, name: RequestId, blocks: tuple[int, ...]) -> Outcome:
        self._check(before, after, move, name)
        codec = self.codec
        people = [live for live in after.requests.values() if live.table or live.request.id == name]
        people += [live for who, live in after.requests.items() if who not in before.requests and not live.table]
        tables = tuple((codec.places[live.request.id], tuple(live.table)) for live in people)
        joined = tuple(b for b in after.free if after.blocks[b].release > before.releases)
        left = tuple(b for b in before.free if b in joined or b not in after.free)
        still = not left and not joined and len(people) == 1 and people[0].table == before.requests[name].table
        moved = Moved(tables, left, joined)
        return Outcome(
            codec.header(after),
            tuple((1 + codec.places[live.request.id], codec.local(after, live)) for live in people),
            tuple((id, number) for id, old in enumerate(blocks) if (number := codec.block(after, id, {})) != old),
            None if still else self.changes.number(moved),
            moved,
        )

    def _check(self, before: State, after: State, move: Move, name: RequestId) -> None:
        """All invariants of what the view shows, with the references of those outside of it."""
        if (wrong := broken_move(self.scope, before, after, move)) is not None:
            raise Wrong(wrong)
        inside, now = before.holders(), after.holders()
        reserved = self.scope.capabilities.reserved_blocks
        for id, block in enumerate(after.blocks):
            b = BlockId(id)
            others = before.blocks[id].ref - inside.get(b, 0)
            for rule, what in broken_block(block, id, now.get(b, 0) + others, b in after.free, b in reserved):
                raise Wrong(Broken(rule, what))
        for live in after.requests.values():
            for rule, what in broken_request(after, live):
                raise Wrong(Broken(rule, what))
            if (wrong := broken_tokens(self.scope, live)) is not None:
                raise Wrong(wrong)
        for rule, what in broken_step(after):
            raise Wrong(Broken(rule, what))

    def end_of_step(self, header: int, everyone: tuple[int, ...]) -> tuple[int, ...] | None:
        """Header and local parts after the end of the step; None where it may not end or nobody is left.

        The end of a step asks of each request for nothing but itself, so that each is played among bystanders.
        """
        new, end = [header], None
        if any(self.codec.reach[local] is not None for local in everyone):
            for place, local in enumerate(everyone):
                end = self._ended(header, place, local) if local else end
                new.append(end[1] if end and local else local)
                new[0] = end[0] if end else header
        found = self.ends[header, *everyone] = tuple(new) if end else None
        return found

    def _ended(self, header: int, place: int, local: int) -> tuple[int, int] | None:
        """Header and local part after the end of a step of this request and some that wait."""
        if (header, local) not in self.ended:
            everyone = list(self.bystanders)
            everyone[place] = local
            people = [self.codec.locals.kept[one] for one in everyone]
            tables = [range(one.width) if one else () for one in people]
            state = self.codec.state(header, everyone, tables, ())
            if tried(play, self.scope, self.transition, state, ev.EndStep()) is None:
                self.ended[header, local] = None
            else:
                for rule, what in broken_step(state):
                    raise Wrong(Broken(rule, what))
                live = state.requests[self.codec.names[place]]
                self.ended[header, local] = self.codec.header(state), self.codec.local(state, live)
        return self.ended[header, local]
