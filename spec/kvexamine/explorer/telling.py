"""A counterexample in words: the world, the numbered moves, what is wrong, and what the blocks hold then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kvspec.state import PENDING, State
from kvspec.vocabulary import Request


def history(world: str, moves: Iterable[str], end: Iterable[str]) -> tuple[str, ...]:
    """The lines of the story: the world, one for each move, and what there is at the end."""
    numbered = (f"{number:3}  {move}" for number, move in enumerate(moves, 1))
    return (f"world: {world}", *numbered, *(f"     {line}" for line in end))


def spelt(request: Request) -> str:
    """A request of a scope."""
    salt = f" salt {request.parts.salt}" if request.parts.salt is not None else ""
    return f"{request.id} [{_tokens(request.prompt)}] up to {request.max_new_tokens} new{salt}"


def in_short(request: Request) -> str:
    """A request in one word: its prompt, how many tokens it may sample, and its salt."""
    salt = f"/{request.parts.salt}" if request.parts.salt is not None else ""
    return f"{''.join(map(str, request.prompt))}+{request.max_new_tokens}{salt}"


def held(state: State) -> Iterator[str]:
    """Each request of a cache with its tables, and the blocks that hold something."""
    several = state.layout.several
    for live in state.requests.values():
        yield (
            f"{live.request.id} {live.phase.value}, tokens [{_tokens(live.tokens)}], computed {live.computed}, "
            f"block table{'s' if several else ''} {' and '.join(map(str, live.tables))}"
        )
    for id, block in enumerate(state.blocks):
        if any(context is not None for context in block.contexts) or block.ref:
            slots = " | ".join(_context(state, context) for context in block.contexts)
            key = f", key ({_tokens(state.contexts.tokens(block.key))})" if block.key is not None else ""
            group = f" of group {block.owner}" if several else ""
            yield f"block {id}{group}: [{slots}]{key}, {block.ref} references"


def _tokens(tokens: Iterable[int]) -> str:
    return " ".join(map(str, tokens))


def _context(state: State, context: int | None) -> str:
    if context is None:
        return "nothing"
    return "pending" if context == PENDING else f"({_tokens(state.contexts.tokens(context))})"
