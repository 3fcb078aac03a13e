"""Whether an engine can live in a scope, and the world that it is then built for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kvconformance.history import Add, History
from kvconformance.surfaces.registry import kinds, letters_of
from kvexamine.explorer import Scope
from kvspec.vocabulary import Capabilities, Request, Surface, World

SURFACES = tuple(kind.surface for kind in kinds() if kind.letters)
"""Those on which every history can be tried."""

Wanted = tuple[tuple[str, str], ...]
"""Options of an engine by name, each with its value as text."""


def lacks(scope: Scope, capabilities: Capabilities, surface: Surface) -> tuple[str, ...]:
    """Why an engine with these capabilities cannot be tried in the scope, or nothing: what is to be said of the engine.

    A reason does not name what the scope has instead, so that one line can tell it for all scopes.
    """
    return tuple(_lacking(scope, capabilities, surface))


def _lacking(scope: Scope, can: Capabilities, surface: Surface) -> Iterator[str]:
    world, blocks = scope.world, _num_blocks(scope, can)
    if "groups" in can.options:
        yield "has several groups of layers"
    if world.block_size not in can.block_sizes:
        yield f"takes blocks of {_either(can.block_sizes)} tokens only"
    if not can.num_blocks[0] <= blocks <= can.num_blocks[1]:
        yield f"takes {can.num_blocks[0]} to {can.num_blocks[1]} blocks only"
    for kind, able in (("fork", can.forks), ("reset", can.resets), ("fail", can.fails)):
        if scope.has(kind) and not able:
            yield f"cannot {kind}"
    yield from letters_of(surface).lacks(scope, can)
    yield from _lacking_in_requests(scope, can)
    yield from _lacking_in_schedule(scope, can)


def _lacking_in_requests(scope: Scope, can: Capabilities) -> Iterator[str]:
    parts = [request.parts for request in scope.requests]
    for what, able, asked in (
        ("salts", can.salts, any(one.salt for one in parts)),
        ("adapters", can.adapters, any(any(one.computes) for one in parts)),
        ("media", can.media, any(one.media for one in parts)),
        ("priorities", can.priorities, any(request.priority for request in scope.requests)),
    ):
        if asked and not able:
            yield f"has no {what}"


def _lacking_in_schedule(scope: Scope, can: Capabilities) -> Iterator[str]:
    """What a scope asks of the scheduler that differs from most: first come, first served, cached, four at a time."""
    world, plain = scope.world, World(1, 1)
    if world.policy not in (plain.policy, *can.policies):
        yield f"has no policy {world.policy}"
    if world.caching not in (plain.caching, *can.caching):
        yield "cannot do without its prefix cache"
    if world.max_running != plain.max_running and not can.max_running[0] <= world.max_running <= can.max_running[1]:
        yield f"cannot be told to run at most {world.max_running}"


def _either(sizes: Iterable[int]) -> str:
    return " or ".join(map(str, sizes))


def chosen(can: Capabilities, wanted: Wanted = ()) -> dict[str, Any]:
    """The values of an engine's own options: those that are wanted and that it has, else the first of each."""
    asked = dict(wanted)
    return {
        name: next((value for value in values if str(value) == asked.get(name)), values[0])
        for name, values in can.options.items()
    }


def mistaken(surfaces: Iterable[Capabilities], wanted: Wanted) -> str:
    """What is wrong with the options wanted of an engine that has these surfaces, or nothing."""
    have: dict[str, list[str]] = {}
    for can in surfaces:
        for name, values in can.options.items():
            have.setdefault(name, []).extend(str(value) for value in values if str(value) not in have.get(name, ()))
    for name, value in wanted:
        if name not in have:
            return f"it has no option {name!r}; it has {', '.join(have) or 'none'}"
        if value not in have[name]:
            return f"its option {name} is not {value!r}; it is one of {', '.join(have[name])}"
    return ""


def empty(scope: Scope, can: Capabilities, wanted: Wanted = ()) -> History:
    """The world of the scope in which nothing has happened; an option that is not wanted has its first value.

    Reserved blocks come on top of those of the scope, which all can be used, and as many as it takes to hold even the
    last token of each request: it is never computed, so that engines differ in whether the request fits without.
    """
    low, high = can.max_running
    world, swaps = scope.world, scope.has("swap") and "swap" in can.preemptions
    return History(
        num_blocks=_num_blocks(scope, can),
        block_size=world.block_size,
        operations=(),
        token_budget=world.token_budget,
        max_running=max(low, min(high, world.max_running)),
        policy=world.policy if world.policy in can.policies else can.policies[0],
        caching=world.caching if world.caching in can.caching else can.caching[0],
        preemption="swap" if swaps else can.preemptions[0],
        options=chosen(can, wanted),
    )


def arrivals(scope: Scope, surface: Surface) -> tuple[Add, ...]:
    """The requests of the scope as operations; where no budget bounds a step, the scope's bounds a chunk."""
    chunk = scope.world.token_budget if letters_of(surface).chunks else Add(()).chunk
    return tuple(_arrival(request, chunk) for request in scope.requests)


def _arrival(request: Request, chunk: int) -> Add:
    parts = request.parts
    return Add(
        prompt=tuple(request.prompt),
        max_new_tokens=request.max_new_tokens,
        priority=request.priority,
        salt=parts.salt,
        adapter=parts.adapter,
        adapter_version=parts.adapter_version,
        weights=parts.weights,
        media=tuple((one.digest, one.position, one.length) for one in parts.media),
        chunk=chunk,
    )


def _num_blocks(scope: Scope, can: Capabilities) -> int:
    world = scope.world
    limits = [request.limit for request in scope.everybody if world.blocks_for(request.limit - 1) <= world.num_blocks]
    return max(world.num_blocks, *map(world.blocks_for, limits)) + len(can.reserved_blocks)
