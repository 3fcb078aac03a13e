"""What a query reads, and what follows from it: the entries of a hit, what a step writes, what may be trimmed.

Attention at position p reads the positions `p - window < q <= p` (all `q <= p` without a window). The recurrence at
position p reads the state after p tokens. Lower bounds never fall as p grows, so what all queries from position
`start` on read below `start` is what the first of them reads there. Everything is counted in slots: slot s of a group
holds the context at position `s + lag`, that is of all tokens up to it.
"""

from __future__ import annotations

from typing import NamedTuple

from kvspec.layout import Group


class Run(NamedTuple):
    """Slots `first` to `stop` of a group, which lie in one table entry from `offset` of its block on."""

    entry: int
    offset: int
    first: int
    stop: int


def reads(group: Group, start: int) -> range:
    """The slots below `start` that queries at `start` and later read."""
    return range(max(0, start - group.reach), start)


def writes(group: Group, start: int, end: int) -> range | list[int]:
    """The slots that a step writes by which those of a group grow from `start` to `end`.

    Of a recurrence, the last slot of every entry that the tokens reach; only the last of all need be kept.
    """
    if not group.recurs:
        return range(start, end)
    size = group.block_size
    return [min((index + 1) * size, end) - 1 for index in range(start // size, group.entries(end))]


def first_kept(group: Group, earliest: int) -> int:
    """The first table entry that queries at positions `earliest` and later may read; those before it may go."""
    return max(0, earliest - group.reach) // group.block_size


def slots_after(group: Group, computed: int, known: int, *, ahead: bool) -> int:
    """How many slots a group has once `computed` of `known` tokens are computed; `ahead` as `drafts_ahead` declares."""
    if not group.drafts:
        return computed
    return max(0, min(computed, known - group.lag) if ahead else computed - group.lag)


def runs(group: Group, slots: range | list[int]) -> list[Run]:
    """The slots entry by entry, in order."""
    size, found, new = group.block_size, [], tuple.__new__  # in a third of the time of a call of `Run`
    if isinstance(slots, list) or group.recurs:
        return [Run(slot // size, 0, slot, slot + 1) for slot in slots]
    first, end = slots.start, slots.stop
    while first < end:
        index, offset = divmod(first, size)
        stop = min(first - offset + size, end)
        found.append(new(Run, (index, offset, first, stop)))
        first = stop
    return found
