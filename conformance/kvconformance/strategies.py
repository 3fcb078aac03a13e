"""Hypothesis strategies for histories, biased to the boundaries at which caches break.

Lengths of k blocks and one token either side; pools of the exact need and one less; budgets of 1, a block, and a prompt
less one; equal prompts, a prompt that equals the second block of another, token ids that differ only above eight bits,
names that could be a salt or an adapter. Two token values and worlds of a few blocks are enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from kvspec.vocabulary import Capabilities, Surface

from kvconformance import history as h

TOKENS = (0, 1)
WIDE = 256
"""Added to a token: the same token to a key that keeps eight bits."""
MEDIA = ("beef01", "beef02", "cafe01")
MOST_OPERATIONS = 24


def histories(surface: Surface, capabilities: Capabilities) -> st.SearchStrategy[h.History]:
    """Histories for one surface of an engine with these capabilities."""
    return st.one_of([_histories(surface, capabilities, size) for size in capabilities.block_sizes])


def _histories(surface: Surface, capabilities: Capabilities, block_size: int) -> st.SearchStrategy[h.History]:
    options = {name: st.sampled_from(values) for name, values in capabilities.options.items()}
    return st.builds(
        h.History,
        num_blocks=st.integers(*capabilities.num_blocks),
        block_size=st.just(block_size),
        operations=programs(operations(surface, capabilities, block_size)),
        token_budget=budgets(capabilities, block_size),
        max_running=st.integers(*capabilities.max_running),
        policy=st.sampled_from(capabilities.policies),
        caching=mostly(capabilities.caching),
        preemption=st.sampled_from(capabilities.preemptions),
        options=st.fixed_dictionaries(options) if options else st.builds(dict),
    )


def programs(operation: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """A sequence of operations. Three lists, because one of the same length would rarely be long."""
    part = st.lists(operation, max_size=MOST_OPERATIONS // 3)
    return st.tuples(part, part, part).map(lambda parts: (*parts[0], *parts[1], *parts[2]))


def operations(surface: Surface, capabilities: Capabilities, block_size: int) -> st.SearchStrategy[Any]:
    """One operation, adding and stepping more often than the rest."""
    which = st.integers(0, 3)
    add = adds(surface, capabilities, block_size)
    if surface is Surface.STEPPER:
        kinds = [add, add, st.just(h.Step()), st.just(h.Step()), st.just(h.Step())]
        if capabilities.max_in_flight > 1:
            kinds += [st.just(h.Begin()), st.just(h.End())]
        elif capabilities.aborts:
            kinds += [st.just(h.Begin())]
        if "swap" in capabilities.preemptions:
            kinds.append(st.builds(h.Transfer, which))
        if capabilities.aborts:
            kinds.append(st.builds(h.Abort, which))
    else:
        count = st.sampled_from((1, 1, block_size, block_size + 1))
        kinds = [add, add, st.builds(h.Grow, which, count), st.builds(h.Grow, which, count)]
        kinds += [st.builds(h.Commit, which), st.builds(h.Free, which), st.builds(h.FreeAgain, which)]
        kinds.append(lookups(capabilities, block_size))
    if capabilities.forks:
        kinds.append(st.builds(h.Fork, which))
    if capabilities.resets:
        kinds.append(st.just(h.Reset()))
    if capabilities.fails:
        kinds.append(st.just(h.Fail()))
    return st.one_of(kinds)


def adds(surface: Surface, capabilities: Capabilities, block_size: int) -> st.SearchStrategy[h.Add]:
    """A request, mostly without key parts besides its tokens."""
    parts: dict[str, st.SearchStrategy[Any]] = {}
    if capabilities.priorities:
        parts["priority"] = st.integers(0, 2)
    if capabilities.salts or capabilities.adapters or capabilities.media:
        parts["key"] = key_parts(capabilities)
    if surface is Surface.POOL:
        parts["chunk"] = st.sampled_from((1_000_000, 1_000_000, 1, block_size, block_size + 1))
    return st.builds(add, prompts(block_size), st.integers(1, block_size + 2), **parts)


def add(prompt: tuple[int, ...], max_new_tokens: int, key: Mapping[str, Any] | None = None, **rest: Any) -> h.Add:
    """An `Add` with the fields of `key` spread out."""
    return h.Add(prompt, max_new_tokens, **(key or {}), **rest)


def key_parts(capabilities: Capabilities) -> st.SearchStrategy[Mapping[str, Any]]:
    """Key parts besides tokens: mostly none, else one or two of those that the engine knows."""
    choices: list[dict[str, Any]] = [{}]
    if capabilities.salts:
        choices += [{"salt": "x"}, {"salt": "y"}]
    if capabilities.adapters:
        choices += [{"adapter": "x"}, {"adapter": "y"}, {"adapter": "x", "adapter_version": 1}, {"weights": 1}]
    if capabilities.salts and capabilities.adapters:
        choices += [{"salt": "x", "adapter": "y"}, {"salt": "y", "adapter": "x"}, {"salt": "xy"}]
    if capabilities.media:
        choices += [{"media": ((digest, 0, 1),)} for digest in MEDIA] + [{"media": ((MEDIA[0], 1, 2),)}]
    plain = [choices[0]] * len(choices)
    return st.sampled_from(plain + choices)


def lookups(capabilities: Capabilities, block_size: int) -> st.SearchStrategy[h.Lookup]:
    """A prompt to look up and not use."""
    return st.builds(h.Lookup, prompts(block_size))


def prompts(block_size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Whole blocks from a small alphabet of blocks, and a tail: shared prefixes and k-block lengths are common."""
    zeros = (0,) * block_size
    ones = (1,) * block_size
    wide = (WIDE,) * block_size
    blocks = st.lists(st.sampled_from((zeros, zeros, ones, wide)), max_size=4)
    tail = st.lists(st.sampled_from(TOKENS), max_size=block_size).map(tuple)
    return st.tuples(blocks, tail).map(lambda parts: sum(parts[0], ()) + parts[1]).filter(len)


def budgets(capabilities: Capabilities, block_size: int) -> st.SearchStrategy[int]:
    """Token budgets, the boundaries more often."""
    low, high = capabilities.token_budgets
    edges = [n for n in (1, block_size - 1, block_size, block_size + 1) if low <= n <= high]
    return st.one_of(st.sampled_from(edges), st.integers(low, high)) if edges else st.integers(low, high)


def mostly(values: tuple[bool, ...]) -> st.SearchStrategy[bool]:
    """True more often where both are possible."""
    return st.sampled_from((True, True, True, False)) if len(set(values)) > 1 else st.just(values[0])
