"""What a query reads, and what follows from it: the entries of a hit, what a step writes, what may be released.

Attention at position p reads the positions `p - window < q <= p` (all `q <= p` without a window). The recurrence at
position p reads the state after p tokens. Lower bounds never fall as p grows, so what all queries from position
`start` on read below `start` is what the first of them reads there.
"""

from __future__ import annotations

from dataclasses import dataclass

from kvspec.groups.vocabulary import Group, Kind


@dataclass(frozen=True, slots=True)
class Slot:
    """Slot `offset` of table entry `index` holds the context at `position`: of all tokens up to that one."""

    index: int
    offset: int
    position: int


def first_read(group: Group, query: int) -> int:
    """The first position of which the query at position `query` reads keys and values, or `query` if there is none."""
    return max(0, query - group.window + 1) if group.kind is Kind.WINDOW else 0


def read_below(group: Group, start: int) -> list[Slot]:
    """What queries at positions `start` and later read of what is written before position `start` is computed.

    For a draft group `start` counts its own slots.
    """
    if group.kind is Kind.STATE:
        return [Slot((start - 1) // group.block_size, 0, start - 1)] if start else []
    return [_slot(group, position) for position in range(first_read(group, start), start)]


def slots_after(group: Group, computed: int, known: int, *, ahead: bool) -> int:
    """How many slots a group has once `computed` of `known` tokens are computed; `ahead` as `drafts_ahead` declares."""
    return max(0, min(computed, known - group.lag) if ahead else computed - group.lag)


def written(group: Group, start: int, end: int) -> list[Slot]:
    """What a step writes by which the slots of a group grow from `start` to `end`.

    Of a state group, every entry that the tokens reach; only the last of them need be kept.
    """
    size = group.block_size
    if group.kind is Kind.STATE:
        return [Slot(i, 0, min((i + 1) * size, end) - 1) for i in range(start // size, group.entries(end))]
    return [_slot(group, position) for position in range(start, end)]


def first_kept(group: Group, earliest: int) -> int:
    """The first table entry that queries at positions `earliest` and later may read; those before it may go."""
    if group.kind is Kind.STATE:
        return max(0, earliest - 1) // group.block_size
    return first_read(group, earliest) // group.block_size


def _slot(group: Group, position: int) -> Slot:
    return Slot(position // group.block_size, position % group.block_size, position + group.lag)
