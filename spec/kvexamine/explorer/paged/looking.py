"""The successors of a key without a state: each request is looked up by what it can see.

It comes to the same as playing every move on the whole state (`kvexamine.explorer.search.Played`).
"""

from __future__ import annotations

from collections.abc import Sequence

from kvexamine.explorer.broken import DEADLOCK, Wrong, tried
from kvexamine.explorer.paged.checks import NOTHING, broken_move, broken_state, finished
from kvexamine.explorer.paged.components import HITS
from kvexamine.explorer.paged.model import PagedModel
from kvexamine.explorer.paged.moves import of_step, play
from kvexamine.explorer.paged.views import Moved, Outcome, Views
from kvspec import events as ev


class Looking:
    """Looks up the moves of each request by what it can see, and puts the successors together."""

    def __init__(self, model: PagedModel) -> None:
        self.codec, self.transition, self.scope = model.codec, model.transition, model.scope
        self.views = Views(model.codec, model.transition)
        self.at = 1 + len(model.codec.names)
        self.sights: dict[tuple[int, int, int], tuple[int, ...]] = {}
        self.moved: dict[tuple[int, tuple[int, ...], int], tuple[int, tuple[int, ...]]] = {}
        self.resets = self.scope.has("reset")

    def __call__(self, key: bytes) -> list[bytes]:
        """The keys of all successors. Raises `Wrong` where something is broken."""
        codec, found, keys = self.codec, self.views.found, list[bytes]()
        row, at = codec.unpack(key), self.at
        header, everyone, shape, blocks = row[0], row[1:at], row[at], row[at + 1 :]
        forked = everyone[-1] != 0
        for place, local in enumerate(everyone):
            reach = codec.reach[local]
            if reach is None:
                continue
            if reach == HITS:
                chain, key_of = codec.chain[local], codec.key_of
                view = tuple([b for b, block in enumerate(blocks) if key_of[block] in chain])
            else:
                view = self.sights.get((place, shape, reach)) or self._sight(place, shape, reach)
            seen = (header, local, forked, *[blocks[b] for b in view])
            outcomes = found.get(seen)
            if outcomes is None:
                own = len(codec.shapes.kept[shape].tables[place])
                outcomes = found[seen] = self.views.of_request(place, header, local, forked, own, seen[3:])
            self._add(keys, row, view, outcomes)
        new_step = self.views.ends.get(row[:at], ())
        if new_step == ():
            new_step = self.views.end_of_step(header, everyone)
        if new_step is not None:
            keys.append(codec.pack(*new_step, shape, *(codec.aged(blocks) if codec.ages else blocks)))
        if self.resets:
            keys += self._reset(key)
        if key in keys:
            raise Wrong(NOTHING)
        if not keys and not finished(codec.read(key)):
            raise Wrong(DEADLOCK)
        return keys

    def _add(self, keys: list[bytes], row: tuple[int, ...], view: tuple[int, ...], outcomes: Sequence[Outcome]) -> None:
        """Put the successors together that these outcomes lead to."""
        at, pack, moved = self.at, self.codec.pack, self.moved
        first = at + 1
        for header, people, changed, change, to in outcomes:
            new = list(row)
            new[0] = header
            for who, part in people:
                new[who] = part
            for b, number in changed:
                new[first + view[b]] = number
            if change is not None:
                found = moved.get((row[at], view, change))
                if found is None:
                    found = self._moved(row[at], view, change, to, new[first:])
                new[at:] = (found[0], *[new[b] for b in found[1]])
            keys.append(pack(*new))

    def _sight(self, place: int, shape: int, reach: int) -> tuple[int, ...]:
        """The blocks of the request's table, and the idle ones that it could take."""
        tables, held = self.codec.shapes.kept[shape]
        found = self.sights[place, shape, reach] = (*tables[place], *range(held, min(held + reach, self.codec.size)))
        return found

    def _moved(
        self, shape: int, view: tuple[int, ...], change: int, to: Moved, blocks: list[int]
    ) -> tuple[int, tuple[int, ...]]:
        """The shape after tables or the order of eviction have changed, and where in a row its blocks were."""
        tables, held = self.codec.shapes.kept[shape]
        after = list(tables)
        for place, table in to.tables:
            after[place] = tuple([view[b] for b in table])
        left = {view[b] for b in to.left}
        idle = [b for b in range(held, len(blocks)) if b not in left]
        idle += [view[b] for b in to.joined]
        if not self.scope.ordered:
            idle.sort(key=blocks.__getitem__)
        names = self.codec.rename(after, idle)
        found = self.codec.shape(names, after), tuple([self.at + 1 + b for b in names])
        if self.scope.ordered:
            self.moved[shape, view, change] = found
        return found

    def _reset(self, key: bytes) -> list[bytes]:
        before, keys = self.codec.read(key), []
        for event in of_step(self.scope, before):
            after = before.copy()
            if isinstance(event, ev.Reset) and (move := tried(play, self.scope, self.transition, after, event)):
                wrong = broken_move(self.scope, before, after, move) or broken_state(self.scope, after)
                if wrong is not None:
                    raise Wrong(wrong)
                keys.append(self.codec.key(after))
        return keys
