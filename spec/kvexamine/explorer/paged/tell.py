"""A counterexample in words: the world, the numbered moves, what is wrong, and what the blocks hold then."""

from __future__ import annotations

from kvexamine.explorer.paged.scope import Scope
from kvspec import events as ev
from kvspec.state import PENDING, State
from kvspec.telling import tell
from kvspec.vocabulary import Request


def history(scope: Scope, moves: tuple[tuple[ev.Event, ...], ...], state: State) -> tuple[str, ...]:
    """The lines of the story, one for each move."""
    world = scope.world
    lines = [
        f"world: {world.num_blocks} blocks of {world.block_size}, budget {world.token_budget}; "
        + ", ".join(_request(request) for request in scope.requests)
    ]
    for number, move in enumerate(moves, 1):
        lines.append(f"{number:3}  " + "; ".join(tell(event, world.block_size) for event in move))
    return (*lines, *requests(state), *contents(state))


def _request(request: Request) -> str:
    salt = f" salt {request.parts.salt}" if request.parts.salt is not None else ""
    return f"{request.id} [{_tokens(request.prompt)}] up to {request.max_new_tokens} new{salt}"


def _tokens(tokens: tuple[int, ...]) -> str:
    return " ".join(map(str, tokens))


def requests(state: State) -> list[str]:
    """Each request with its tables."""
    several = "s" if state.layout.several else ""
    return [
        f"     {live.request.id} {live.phase.value}, tokens [{_tokens(tuple(live.tokens))}], computed {live.computed}, "
        f"block table{several} {' and '.join(map(str, live.tables))}"
        for live in state.requests.values()
    ]


def contents(state: State) -> list[str]:
    """The blocks that hold something."""
    lines = []
    for id, block in enumerate(state.blocks):
        if any(context is not None for context in block.contexts) or block.ref:
            held = " | ".join(_context(state, context) for context in block.contexts)
            key = f", key ({_tokens(state.contexts.tokens(block.key))})" if block.key is not None else ""
            group = f" of group {block.owner}" if state.layout.several else ""
            lines.append(f"     block {id}{group}: [{held}]{key}, {block.ref} references")
    return lines


def _context(state: State, context: int | None) -> str:
    if context is None:
        return "nothing"
    return "pending" if context == PENDING else f"({_tokens(state.contexts.tokens(context))})"
