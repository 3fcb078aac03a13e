"""What a query reads, written down from the definition of attention and of a recurrence, position by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from kvspec.layout import Group, Kind
from kvspec.state import PENDING, Block, State
from kvspec.vocabulary import Request, TokenId

BEYOND = 8
"""How many positions past the last that a request can compute are looked at: more than any window of a scope."""


@dataclass(frozen=True, slots=True)
class Held:
    """Slot `offset` of entry `entry` of a table, with the context of all tokens up to `position`."""

    entry: int
    offset: int
    position: int


def seen(group: Group, query: int) -> Iterator[Held]:
    """What the query at a position reads, its own position included: all, a window, or the state before it."""
    size = group.block_size
    match group.kind:
        case Kind.FULL:
            yield from (Held(q // size, q % size, q) for q in range(query + 1))
        case Kind.WINDOW:
            yield from (Held(q // size, q % size, q) for q in range(query + 1) if query - group.window < q)
        case Kind.STATE if query:
            yield Held((query - 1) // size, 0, query - 1)
        case Kind.DRAFT:
            yield from (Held(q // size, q % size, q + group.lag) for q in range(query + 1))


@cache
def past(group: Group, first: int, below: int, last: int) -> tuple[Held, ...]:
    """What the queries from `first` to `last` read of what is there once `below` tokens are computed.

    Of states that is the one after `below` tokens, and for a drafter `below` counts its own slots.
    """
    ways = (held for query in range(first, last + 1) for held in seen(group, query))
    if group.kind is Kind.STATE:
        return tuple(dict.fromkeys(held for held in ways if held.position == below - 1))
    return tuple(dict.fromkeys(held for held in ways if held.entry * group.block_size + held.offset < below))


@cache
def unread(group: Group, entry: int, earliest: int, last: int) -> bool:
    """Whether no query from `earliest` to `last` reads anything of a table entry."""
    return all(held.entry != entry for query in range(earliest, last + 1) for held in seen(group, query))


def right(state: State, tokens: Sequence[TokenId], block: Block, held: Held) -> bool:
    """Whether a slot has the context of these tokens up to its position, or was drafted from one not told yet."""
    context = block.contexts[held.offset]
    if context is None or context == PENDING:
        return context == PENDING and held.position >= len(tokens)
    told = held.position < len(tokens)
    return told and list(state.contexts.tokens(context)) == list(tokens[: held.position + 1])


def horizon(request: Request) -> int:
    """A position behind all that the request can compute."""
    return request.limit + BEYOND
