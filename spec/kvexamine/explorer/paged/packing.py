"""A state written down in a few bytes, up to the names of its blocks, without what no rule will ask for again.

A key is a row of 16-bit numbers: the step, the local part of each request, the shape of the block tables, and each
block, in the order in which tables and the order of eviction first name them. A number stands for a component that is
kept once, so that a key is short and equal components are compared, hashed and judged once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from kvexamine.explorer.paged.components import (
    HITS,
    NOW,
    OLD,
    Header,
    Local,
    Numbered,
    Physical,
    Shape,
    age,
    block_of,
    live_of,
)
from kvexamine.explorer.paged.scope import Scope
from kvspec import events as ev
from kvspec.state import Live, State, initial
from kvspec.transition import advance
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId, Phase, RequestId, StepId, TokenId, TransferId


class Codec:
    """Reads and writes the keys of one scope, and keeps the components that they number."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.start = initial(scope.world, scope.capabilities)
        for request in scope.requests:
            advance(self.start, ev.Add(request), Tally())
        self.requests = scope.everybody
        self.names = [request.id for request in self.requests]
        self.places = {name: place for place, name in enumerate(self.names)}
        self.forks = [place if request is scope.child else 0 for place, request in enumerate(self.requests)]
        self.size = scope.world.num_blocks
        self.headers, self.shapes = Numbered[Header](), Numbered[Shape]()
        self.locals, self.blocks = Numbered[Local | None](), Numbered[Physical]()
        self.locals.number(None)
        self.reach: list[int | None] = [None]
        """By local part: how many idle blocks it could take, `HITS` for one that waits, None for one that is done."""
        self.chain: list[frozenset[int]] = [frozenset()]
        self.key_of: list[int | None] = []
        self._tokens: dict[int, tuple[TokenId, ...]] = {}
        self._aged: dict[int, int] = {}
        row = struct.Struct(f"<{2 + len(self.names) + self.size}H")
        self.pack, self.unpack = row.pack, row.unpack
        salts = [request.parts.salt for request in self.requests]
        names_count = scope.has("fail")
        self._stands_for = [place if names_count else salts.index(salt) for place, salt in enumerate(salts)]
        self.ages = scope.capabilities.publishes == "computed" or scope.has("fail")
        self._tails = "tail-first" in scope.capabilities.profiles

    def key(self, state: State) -> bytes:
        """The key of a whole state."""
        tables = self.tables(state)
        ranks = self.ranks(state)
        blocks = [self.block(state, id, ranks) for id in range(self.size)]
        rest = sorted(set(range(self.size)) - set(state.free), key=lambda id: blocks[id])
        idle: Iterable[int] = state.free
        if not self.scope.ordered:
            idle = sorted(idle, key=lambda id: blocks[id])
        names = self.rename(tables, (*idle, *rest))
        shape = self.shape(names, tables)
        return self.pack(self.header(state), *self.everyone(state), shape, *[blocks[id] for id in names])

    def shape(self, names: dict[int, int], tables: Iterable[Iterable[int]]) -> int:
        """The number of block tables under new names."""
        new = tuple(tuple(names[id] for id in table) for table in tables)
        return self.shapes.number(Shape(new, 1 + max((id for table in new for id in table), default=-1)))

    @staticmethod
    def rename(tables: Iterable[Iterable[int]], others: Iterable[int]) -> dict[int, int]:
        """New names for blocks, in the order in which the tables and then the others name them."""
        names: dict[int, int] = {}
        for table in tables:
            for id in table:
                if id not in names:
                    names[id] = len(names)
        for id in others:
            if id not in names:
                names[id] = len(names)
        return names

    def tables(self, state: State) -> list[tuple[int, ...]]:
        """The block table of every request, those that are not there yet included."""
        return [tuple(state.requests[name].table) if name in state.requests else () for name in self.names]

    def everyone(self, state: State) -> list[int]:
        """The numbers of the local parts, 0 for a request that is not there yet."""
        return [self.local(state, state.requests[n]) if n in state.requests else 0 for n in self.names]

    def bystanders(self) -> list[int]:
        """Local parts of requests that wait and have nothing."""
        state = initial(self.scope.world, self.scope.capabilities, self.start.contexts)
        for request in self.requests:
            advance(state, ev.Add(request), Tally())
        return self.everyone(state)

    def _reach(self, local: Local) -> int | None:
        if local.phase is Phase.DONE:
            return None
        if local.phase is Phase.WAITING:
            return HITS
        if self.scope.takes != "head":
            return self.size
        world, end = self.scope.world, len(local.contexts)
        need = world.blocks_for(min(local.computed + world.token_budget, end)) - local.width
        return need + bool(self.scope.may & {"copy", "fork", "refuse"})

    def aged(self, blocks: Sequence[int]) -> list[int]:
        """The numbers of blocks once the step that wrote them is over."""
        for number in blocks:
            if number not in self._aged:
                old = self.blocks.kept[number]
                writers = tuple(None if writer is None else (writer[0], OLD) for writer in old.writers)
                new = old._replace(writers=writers)
                self._aged[number] = self._known(self.blocks.number(new), new)
        return [self._aged[number] for number in blocks]

    def header(self, state: State) -> int:
        """The number of the step."""
        planned = tuple(sorted(self.places[name] for name in state.planned)) if self._counts(state) else ()
        return self.headers.number(
            Header(
                state.left,
                state.progressed,
                min(state.idle_steps, state.capabilities.idle_steps + 1),
                planned,
                len(state.in_flight),
                tuple(sorted(state.transfers)),
                tuple(sorted(state.arriving)),
            )
        )

    def _counts(self, state: State) -> bool:
        return state.world.max_running < len(self.names) or self.scope.has("dispatch") or self.scope.has("fail")

    def local(self, state: State, live: Live) -> int:
        """The number of a request without its table."""
        number = self.locals.number(
            local := Local(
                self.places[live.request.id],
                live.phase,
                tuple(live.contexts if live.phase is not Phase.DONE else live.contexts[: len(live.request.prompt)]),
                live.computed if live.phase is not Phase.DONE else 0,
                live.allocated if live.phase is Phase.RUNNING else 0,
                len(live.table),
                live.ran,
                live.started and self.scope.ordered_starts,
                age(state, live.preempted_in) if live.phase is Phase.WAITING else OLD,
                None if live.swapped is None else tuple(live.swapped),
                live.transfer is not None,
            )
        )
        if number == len(self.reach):
            self.reach.append(self._reach(local))
            self.chain.append(frozenset(live.contexts))
        return number

    def ranks(self, state: State) -> dict[int, int]:
        """For each idle block, the place of its release among those that still matter."""
        if not self._tails:
            return {}
        order = {release: rank for rank, release in enumerate(sorted({state.blocks[b].release for b in state.free}))}
        return {b: order[state.blocks[b].release] for b in state.free}

    def block(self, state: State, id: int, ranks: dict[int, int]) -> int:
        """The number of a block."""
        block = state.blocks[id]
        touched = (
            tuple([age for age, blocks in enumerate(state.in_flight.values(), 1) if id in blocks])
            if state.in_flight
            else ()
        )
        kept = id in ranks or (bool(block.fence) and block.ref == 0)
        number = self.blocks.number(
            physical := Physical(
                tuple(block.contexts),
                tuple([self._writer(state, writer) for writer in block.writers]),
                block.key,
                block.ref,
                id in state.free,
                block.epoch < state.epoch,
                block.failed,
                tuple(sorted(block.fence)),
                touched,
                ranks.get(id, -1),
                block.depth if kept else 0,
            )
        )
        return self._known(number, physical)

    def _known(self, number: int, physical: Physical) -> int:
        if number == len(self.key_of):
            self.key_of.append(physical.key)
        return number

    def _writer(self, state: State, writer: tuple[RequestId, int] | None) -> tuple[int, int] | None:
        if writer is None:
            return None
        return self._stands_for[self.places[writer[0]]], age(state, writer[1]) if self.ages else OLD

    def state(
        self, header: int, everyone: Sequence[int], tables: Sequence[Sequence[int]], blocks: Sequence[int]
    ) -> State:
        """The state of numbered components, whose blocks are named by their place in `blocks`."""
        head, physical = self.headers.kept[header], [self.blocks.kept[number] for number in blocks]
        return State(
            world=self.scope.world,
            capabilities=self.scope.capabilities,
            contexts=self.start.contexts,
            requests={
                name: live_of(local, self.requests[place], tables[place], self._spelled(local), self.forks[place])
                for place, name in enumerate(self.names)
                if (local := self.locals.kept[everyone[place]]) is not None
            },
            blocks=[block_of(block, self.names) for block in physical],
            free={BlockId(id): None for id, block in enumerate(physical) if block.idle},
            left=head.left,
            layout=self.start.layout,
            step=NOW,
            epoch=1,
            releases=self.size,
            progressed=head.progressed,
            idle_steps=head.idle_steps,
            planned={self.names[place]: 0 for place in head.planned},
            in_flight={
                StepId(age): frozenset(BlockId(id) for id, block in enumerate(physical) if age in block.touched)
                for age in range(1, head.flying + 1)
            },
            transfers={
                TransferId(t): frozenset(BlockId(id) for id, block in enumerate(physical) if t in block.fence)
                for t in head.transfers
            },
            arriving=frozenset(TransferId(t) for t in head.arriving),
        )

    def read(self, key: bytes) -> State:
        """The state of a key."""
        row, people = self.unpack(key), len(self.names)
        shape = self.shapes.kept[row[1 + people]]
        return self.state(row[0], row[1 : 1 + people], shape.tables, row[2 + people :])

    def _spelled(self, local: Local) -> list[TokenId]:
        """The tokens behind the contexts of a request."""
        last = local.contexts[-1]
        if (tokens := self._tokens.get(last)) is None:
            tokens = self._tokens[last] = self.start.contexts.tokens(last)
        return list(tokens)
