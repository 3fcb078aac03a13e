"""A counterexample in words: the world, the numbered moves, what is wrong, and what the blocks hold then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kvexamine.explorer.paged.scope import Scope
from kvspec import events as ev
from kvspec.state import State
from kvspec.vocabulary import Request


def history(scope: Scope, moves: tuple[tuple[ev.Event, ...], ...], state: State) -> tuple[str, ...]:
    """The lines of the story, one for each move."""
    world = scope.world
    lines = [
        f"world: {world.num_blocks} blocks of {world.block_size}, budget {world.token_budget}; "
        + ", ".join(_request(request) for request in scope.requests)
    ]
    for number, move in enumerate(moves, 1):
        lines.append(f"{number:3}  " + "; ".join(_tell(event) for event in move))
    return (*lines, *_requests(state), *_contents(state))


def _request(request: Request) -> str:
    salt = f" salt {request.parts.salt}" if request.parts.salt is not None else ""
    return f"{request.id} [{_tokens(request.prompt)}] up to {request.max_new_tokens} new{salt}"


def _tokens(tokens: tuple[int, ...]) -> str:
    return " ".join(map(str, tokens))


def _tell(event: ev.Event) -> str:
    return _TELL[type(event)](event)


def _blocks(ids: tuple[int, ...]) -> str:
    return f"block{'s' if len(ids) != 1 else ''} {_tokens(ids) or 'none'}"


def _requests(state: State) -> list[str]:
    return [
        f"     {live.request.id} {live.phase.value}, tokens [{_tokens(tuple(live.tokens))}], computed {live.computed}, "
        f"block table {live.table}"
        for live in state.requests.values()
    ]


def _contents(state: State) -> list[str]:
    lines = []
    for id, block in enumerate(state.blocks):
        if any(context is not None for context in block.contexts) or block.ref:
            held = [f"({_tokens(state.contexts.tokens(c))})" if c is not None else "nothing" for c in block.contexts]
            key = f", key ({_tokens(state.contexts.tokens(block.key))})" if block.key is not None else ""
            lines.append(f"     block {id}: [{' | '.join(held)}]{key}, {block.ref} references")
    return lines


_TELL: dict[type, Callable[[Any], str]] = {
    ev.Start: lambda e: f"{e.request} starts" + (f" on a hit of {e.hit} tokens: {_blocks(e.blocks)}" if e.hit else ""),
    ev.Compute: lambda e: f"{e.request} computes {e.count} tokens from position {e.start} on in {_blocks(e.table)}",
    ev.Copy: lambda e: f"{e.request} copies block {e.source}, entry {e.index} of its table, to block {e.target}",
    ev.Fork: lambda e: f"{e.child.id} forks {e.parent} with {_blocks(e.table)}",
    ev.Sample: lambda e: f"{e.request} samples {e.token}",
    ev.Refuse: lambda e: f"{e.request} is refused {e.need} more blocks",
    ev.Decline: lambda e: f"nothing is done for {e.request}",
    ev.Reject: lambda e: f"{e.request} is rejected for good",
    ev.Preempt: lambda e: f"{e.request} is preempted",
    ev.SwapOut: lambda e: f"{e.request} is swapped out by transfer {e.transfer}",
    ev.SwapIn: lambda e: f"{e.request} is swapped into {_blocks(e.table)} by transfer {e.transfer}",
    ev.TransferDone: lambda e: f"transfer {e.transfer} is done",
    ev.Finish: lambda e: f"{e.request} finishes",
    ev.Abort: lambda e: f"{e.request} is aborted" + (", its blocks follow" if e.deferred else ""),
    ev.Release: lambda e: f"{e.request}'s blocks are given back",
    ev.Reset: lambda e: "the cache is reset",
    ev.FailStep: lambda e: f"step {e.step} fails",
    ev.EndStep: lambda e: "the step ends",
    ev.Dispatch: lambda e: f"step {e.step} is dispatched",
    ev.Complete: lambda e: f"step {e.step} is complete",
}
