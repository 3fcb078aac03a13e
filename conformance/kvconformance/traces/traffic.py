"""Seeded busy traffic for any engine: a world within its capabilities and more requests than fit at once.

Shared prefixes, prompts of whole blocks and one token either side, cancellations, preemption by a full pool, and what
the engine declares beside: forks, resets, failures, salts, adapters, priorities, steps in flight.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from kvconformance import history as h
from kvconformance.surfaces.base import Traffic
from kvconformance.surfaces.registry import kind_of
from kvspec.violation import HarnessFault
from kvspec.vocabulary import Capabilities, Surface

REQUESTS: Final = 40
BLOCKS: Final = 24
"""The pool wanted; an engine may declare a smaller one as its largest."""


def traffic(surface: Surface, capabilities: Capabilities, seed: int, steps: int | None = None) -> h.History:
    """A busy history; `steps` limits its operations (None: until `REQUESTS` requests have come)."""
    busy = kind_of(surface).traffic
    if busy is None:
        raise HarnessFault(f"nobody knows what is busy traffic on the surface {surface.value}")
    dice = random.Random(seed)  # noqa: S311 # seeded so that it can be repeated
    world = _world(capabilities, dice)
    size = world["block_size"]
    operations: list[h.Operation] = []
    for _ in range(REQUESTS if steps is None else steps):
        operations += _arrival(capabilities, size, world, dice)
        operations += [busy.usually(capabilities, dice, _which(dice)) for _ in range(dice.randint(0, 5))]
        operations += _rarely(busy, capabilities, dice)
    return h.History(operations=tuple(operations[:steps]), **world)


def _world(capabilities: Capabilities, dice: random.Random) -> dict[str, Any]:
    """A pool that a few requests fill, with options of the engine's own drawn from what it declares."""
    fewest, most = capabilities.num_blocks
    reserved = len(capabilities.reserved_blocks)
    least, largest = capabilities.token_budgets
    size = dice.choice(capabilities.block_sizes)
    return {
        "num_blocks": max(fewest, min(most, BLOCKS) - dice.randint(0, 3), reserved + 2),
        "block_size": size,
        "token_budget": dice.randint(max(least, min(largest, 4)), max(least, min(largest, 4 * size))),
        "max_running": max(capabilities.max_running[0], min(capabilities.max_running[1], 6)),
        "policy": dice.choice(capabilities.policies),
        "caching": True in capabilities.caching,
        "preemption": dice.choice(capabilities.preemptions),
        "options": {name: dice.choice(values) for name, values in capabilities.options.items()},
    }


def _arrival(capabilities: Capabilities, size: int, world: Mapping[str, Any], dice: random.Random) -> list[h.Operation]:
    """A request that shares a prefix with many others, and fits into the pool when it is alone."""
    room = size * (world["num_blocks"] - len(capabilities.reserved_blocks) - capabilities.watermark_blocks)
    shared = (0,) * (size * dice.choice((0, 0, 1, 2)))
    own = tuple(dice.choices((0, 1), k=dice.choice((1, size - 1, size, size + 1, 2 * size, dice.randint(1, 4 * size)))))
    prompt = (*shared, *own)[: max(1, room // 2)] or (0,)
    new = dice.randint(1, max(1, min(3 * size, 12, room - len(prompt) - 1)))
    parts: dict[str, Any] = {}
    if capabilities.salts and dice.random() < 0.1:
        parts["salt"] = dice.choice("xy")
    if capabilities.adapters and dice.random() < 0.1:
        parts["adapter"] = "a"
    if capabilities.priorities:
        parts["priority"] = dice.randint(0, 2)
    chunk = dice.choice((1, size, world["token_budget"], 1_000_000))
    return [h.Add(prompt, new, chunk=chunk, **parts)]


def _which(dice: random.Random) -> int:
    return dice.randint(0, 5)


def _rarely(busy: Traffic, capabilities: Capabilities, dice: random.Random) -> list[h.Operation]:
    """What happens now and then."""
    which = _which(dice)
    kinds = busy.rarely(capabilities, dice, which)
    kinds += [h.Fork(which)] if capabilities.forks else []
    kinds += [h.Fail()] if capabilities.fails else []
    kinds += [h.Reset()] if capabilities.resets else []
    return [dice.choice(kinds)] if kinds and dice.random() < 0.12 else []
