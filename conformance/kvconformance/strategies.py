"""Hypothesis strategies for histories, biased to the boundaries at which caches break.

Lengths of k blocks and one token either side; pools of a few blocks more or less than one request needs; budgets of 1,
a block, and a token either side; equal prompts, a prompt that equals the second block of another, blocks of the same
tokens in another order, token ids that differ only above eight bits, names that could be a salt or an adapter. A
history has one theme, two sets of key parts that a faulty key confuses, so that requests with equal tokens meet.

A choice costs Hypothesis far more than a step costs an engine, so a world is one choice and a phrase is one choice,
both taken apart by `pick`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import gcd, prod
from typing import Any

from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.attention.recipes import attention_histories
from kvconformance.attention.surface import AttentionCapabilities
from kvconformance.groups.strategies import group_histories
from kvconformance.quantizer.strategies import quantizer_histories
from kvconformance.quantizer.surface import QuantizerCapabilities
from kvconformance.tree.strategies import tree_phrases
from kvspec.groups.vocabulary import GroupsCapabilities
from kvspec.vocabulary import Capabilities, Surface

WIDE = 256
"""A token that is 0 to a key that keeps eight bits, and 1 modulo 255."""
MEDIA = ("beef01", "beef02", "cafe01")
MOST_PHRASES = 8
"""Most phrases in each of the three parts of a program; a phrase is one to five operations."""
MANY = 1_000_000

OVERTAKEN = -1
"""Number of the theme in which a request of higher priority comes late."""

Parts = Mapping[str, Any]
Theme = tuple[Parts, ...]
Phrase = tuple[Any, ...]


def histories(surface: Surface, capabilities: Capabilities) -> st.SearchStrategy[h.History]:
    """Histories for one surface of an engine with these capabilities."""
    if isinstance(capabilities, QuantizerCapabilities):
        return quantizer_histories(capabilities)
    if isinstance(capabilities, GroupsCapabilities):
        return group_histories(capabilities)
    if isinstance(capabilities, AttentionCapabilities):
        return attention_histories(capabilities)
    known = themes(capabilities)
    chosen = [(size, theme) for size in capabilities.block_sizes for theme in range(len(known))]
    if surface is Surface.STEPPER and "priority" in capabilities.policies:
        chosen += [(size, OVERTAKEN) for size in capabilities.block_sizes] * max(1, len(known) // 4)

    @cache
    def build(choice: tuple[int, int]) -> st.SearchStrategy[h.History]:
        size, theme = choice
        if surface is Surface.GENERATOR:
            return st.builds(history, worlds(capabilities, size), served(size))
        if theme == OVERTAKEN:
            return overtaken(capabilities, size)
        program = programs(phrases(surface, capabilities, size, known[theme]))
        return st.builds(history, worlds(capabilities, size), program)

    return st.sampled_from(chosen).flatmap(build)


def history(world: Mapping[str, Any], program: tuple[Any, ...]) -> h.History:
    """A world and what happens in it."""
    return h.History(operations=program, **world)


def pick(choices: Mapping[str, Sequence[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """One of each of the choices, in a single draw; number 0 has the first of each.

    Hypothesis prefers small numbers where there are many; a long stride turns them into all sorts of combinations.
    """
    total = prod(len(values) for values in choices.values())
    stride = next(n for n in range(int(total * 0.618) or 1, 2 * total) if gcd(n, total) == 1)

    def take(number: int) -> dict[str, Any]:
        rest, taken = number * stride % total, {}
        for name, values in choices.items():
            rest, place = divmod(rest, len(values))
            taken[name] = values[place]
        return taken

    return st.integers(0, total - 1).map(take)


# Worlds.


def worlds(capabilities: Capabilities, block_size: int) -> st.SearchStrategy[dict[str, Any]]:
    """Configurations that the engine can be built for, as arguments of a history."""
    options = {f"option {name}": values for name, values in capabilities.options.items()}
    chosen = pick(
        {
            "num_blocks": pools(capabilities),
            "token_budget": budgets(capabilities, block_size),
            "max_running": batches(capabilities),
            "policy": capabilities.policies,
            "caching": mostly(capabilities.caching),
            "preemption": capabilities.preemptions,
            **options,
        }
    )

    def gather(world: dict[str, Any]) -> dict[str, Any]:
        given = {name: world.pop(f"option {name}") for name in capabilities.options}
        return {**world, "block_size": block_size, "options": given}

    return chosen.map(gather)


def pools(capabilities: Capabilities) -> Sequence[int]:
    """Numbers of blocks, mostly so few that two or three requests do not fit."""
    low, high = capabilities.num_blocks
    tight = [n for n in range(low + 2, low + 6) if n <= high]
    return [*tight * 3, *range(low, high + 1)]


def batches(capabilities: Capabilities) -> Sequence[int]:
    """Most requests in a step, rarely 1 where more are possible."""
    low, high = capabilities.max_running
    return [n for n in range(low, high + 1) for _ in range(1 if n == 1 else 2)]


def budgets(capabilities: Capabilities, block_size: int) -> Sequence[int]:
    """Token budgets: the boundaries, and enough for several prompts."""
    low, high = capabilities.token_budgets
    edges = [n for n in (1, block_size - 1, block_size, block_size + 1) if low <= n <= high]
    ample = range(max(low, high // 2), high + 1)
    return [*edges, *ample, *ample]


def mostly(values: tuple[bool, ...]) -> Sequence[bool]:
    """True more often where both are possible."""
    return (True, True, True, True, False) if len(set(values)) > 1 else values[:1]


# Programs.


def programs(phrase: st.SearchStrategy[Phrase]) -> st.SearchStrategy[tuple[Any, ...]]:
    """A sequence of operations. Three lists of phrases, because one of the same length would rarely be long."""
    part = st.lists(phrase, max_size=MOST_PHRASES)
    return st.tuples(part, part, part).map(lambda parts: tuple(o for part in parts for phrase in part for o in phrase))


def phrases(surface: Surface, capabilities: Capabilities, block_size: int, theme: Theme) -> st.SearchStrategy[Phrase]:
    """Operations that belong together: a request with what follows it, or something that happens to those there."""
    if surface is Surface.TREE:
        return tree_phrases(block_size, theme, book(block_size), capabilities.resets)
    stepper = surface is Surface.STEPPER
    after = _after_add_stepper() if stepper else _after_add_pool(capabilities)
    other = _stepper_phrases(capabilities) if stepper else _pool_phrases(capabilities, block_size)
    choices = {**requests(surface, capabilities, block_size, theme), "after": after, "told": (None, None, None, 0, 1)}
    request = pick(choices).map(_request_phrase)
    between = st.sampled_from(other)
    if stepper:
        return st.one_of(between, request)
    return st.one_of(between, request, between, request, lookups(block_size, theme))


def _request_phrase(picked: dict[str, Any]) -> Phrase:
    """A request and what follows, perhaps the next prompt of the conversation: what was told and one token more."""
    after, key, told = picked.pop("after"), picked.pop("key"), picked.pop("told")
    first = h.Add(**picked, **key)
    if told is None:
        return (first, *after)
    return (first, *after, h.Add(**{**picked, "prompt": (*first.prompt, told, 0)}, **key))


def _after_add_stepper() -> list[Phrase]:
    step = h.Step()
    return [(), (), (), (step,), (step,), (step, step), (step, step, step)]


def _stepper_phrases(capabilities: Capabilities) -> list[Phrase]:
    step, begin, end = h.Step(), h.Begin(), h.End()
    phrases: list[Phrase] = [(step,)] * 4 + [(step, step)] * 4 + [(step, step, step)] * 2
    if capabilities.max_in_flight > 1:
        phrases += [(begin,)] * 4 + [(begin, begin)] * 3 + [(begin, end), (end,)] + [(end, begin)] * 4
    elif capabilities.aborts:
        phrases += [(begin,)] * 2
    done = h.Transfer(0)
    if "swap" in capabilities.preemptions:
        phrases += [(done,), (h.Transfer(1),), (done, step), (done, step)]
    if "swap" in capabilities.preemptions and capabilities.aborts:
        phrases += [(done, step, h.Abort(which)) for which in (0, 1, -1)] * 2
    if capabilities.aborts:
        phrases += [(h.Abort(which),) for which in (0, -1)] + [(begin, h.Abort(0)), (step, h.Abort(-1))]
    if capabilities.forks:
        phrases += [(h.Fork(which),) for which in (0, -1)] + [(h.Fork(0), step)]
    return phrases + _resets_and_failures(capabilities)


def _after_add_pool(capabilities: Capabilities) -> list[Phrase]:
    commit, grow, free = h.Commit(-1), h.Grow(-1), h.Free(-1)
    after: list[Phrase] = [(), (), (commit,), (commit,), (commit, free), (commit, free)]
    after += [(commit, grow), (commit, grow, grow, free)]
    return after + ([(commit, h.Fork(-1), h.Grow(-2), grow, commit)] if capabilities.forks else [])


def _pool_phrases(capabilities: Capabilities, block_size: int) -> list[Phrase]:
    some = (0, 1, -1)
    phrases: list[Phrase] = [(h.Grow(which, count),) for which in some for count in (1, block_size, block_size + 1)]
    phrases += [(h.Commit(which),) for which in some] + [(h.Free(which),) for which in some] * 2
    phrases += [(h.FreeAgain(which),) for which in (0, -1)]
    if capabilities.forks:
        phrases += [(h.Fork(which),) for which in (0, -1)] + [(h.Fork(0), h.Grow(0), h.Grow(-1))]
        phrases += [(h.Fork(0), h.Grow(0), h.Fork(0), h.Grow(0)), (h.Fork(0), h.Grow(-1), h.Commit(0), h.Free(0))]
    return phrases + _resets_and_failures(capabilities)


def _resets_and_failures(capabilities: Capabilities) -> list[Phrase]:
    phrases: list[Phrase] = []
    if capabilities.resets:
        phrases.append((h.Reset(),))
    if capabilities.fails:
        phrases += [(h.Fail(),)] * 2
    return phrases


def overtaken(capabilities: Capabilities, block_size: int) -> st.SearchStrategy[h.History]:
    """A long request that may wait is in its prefill when a short one comes that may not, and needs the last block."""
    lengths = pick({"long": (4, 5, 6), "steps": (1, 2, 3), "new": (2, 3), "spare": (0, 1, 2)})

    def build(world: dict[str, Any], picked: dict[str, int]) -> h.History:
        long = h.Add((0,) * (picked["long"] * block_size + 1), 1, priority=2)
        short = h.Add((1,) * block_size, picked["new"])
        need = -(-(len(long.prompt) + 1) // block_size) + len(capabilities.reserved_blocks) + picked["spare"]
        tight = {**world, "policy": "priority", "num_blocks": min(need, capabilities.num_blocks[1])}
        return history(tight, (long, *(h.Step(),) * picked["steps"], short, *(h.Step(),) * 3))

    return st.builds(build, worlds(capabilities, block_size), lengths)


# Requests.


def requests(surface: Surface, capabilities: Capabilities, block_size: int, theme: Theme) -> dict[str, Sequence[Any]]:
    """The choices that make a request, with the key parts of the theme."""
    choices: dict[str, Sequence[Any]] = {
        "prompt": book(block_size),
        "max_new_tokens": (1, 1, 2, block_size, block_size + 1, block_size + 2, 2 * block_size + 1),
        "key": theme,
    }
    if capabilities.priorities:
        choices["priority"] = (0, 0, 1, 2)
    if surface is Surface.POOL:
        choices["chunk"] = (MANY, MANY, MANY, 1, block_size, block_size + 1)
    return choices


def served(block_size: int) -> st.SearchStrategy[tuple[h.Generate, ...]]:
    """One or two batches for a Generator, of which one costs as much as a whole program on another surface."""
    prompts = st.lists(st.sampled_from(book(block_size)), min_size=1, max_size=6).map(tuple)
    batch = st.builds(h.Generate, prompts, st.sampled_from((1, 2, block_size, block_size + 2)))
    return st.lists(batch, min_size=1, max_size=2).map(tuple)


def lookups(block_size: int, theme: Theme) -> st.SearchStrategy[Phrase]:
    """A prompt to look up and not use, under the parts of the theme that a lookup knows."""
    known = [{k: v for k, v in parts.items() if k in {"salt", "adapter"}} for parts in theme]
    return pick({"prompt": book(block_size), "key": known}).map(lambda p: (h.Lookup(p["prompt"], **p["key"]),))


def themes(capabilities: Capabilities) -> list[Theme]:
    """Sets of key parts that a history uses side by side: mostly none, else two that a faulty key confuses."""
    plain: Parts = {}
    pairs: list[Theme] = []
    if capabilities.salts:
        pairs += [(plain, {"salt": "x"}), ({"salt": "x"}, {"salt": "y"})]
    if capabilities.adapters:
        pairs += [(plain, {"adapter": "x"}), ({"adapter": "x"}, {"adapter": "y"})]
        pairs += [({"adapter": "x"}, {"adapter": "x", "adapter_version": 1}), (plain, {"weights": 1})]
    if capabilities.salts and capabilities.adapters:
        pairs += [({"salt": "x"}, {"adapter": "x"}), ({"salt": "x", "adapter": "y"}, {"salt": "xy"})]
    if capabilities.media:
        pairs += [tuple({"media": ((digest, 0, 1),)} for digest in MEDIA)]
        pairs += [({"media": ((MEDIA[0], 0, 1),)}, {"media": ((MEDIA[0], 1, 2),)})]
        pairs += [({"media": ((MEDIA[0], 1, 2),)}, {"media": ((MEDIA[0], 2, 2),)})]
    return [(plain,)] * max(1, len(pairs) // 2) + pairs


@cache
def book(block_size: int) -> Sequence[tuple[int, ...]]:
    """The prompts that histories are made of, shortest first."""
    zeros, ones, wide = ((token,) * block_size for token in (0, 1, WIDE))
    rising, falling = (0,) * (block_size - 1) + (1,), (1,) + (0,) * (block_size - 1)
    common = [zeros, zeros, zeros * 2, zeros * 2, zeros * 2, zeros + ones, zeros * 3]
    rarer = [(), ones, wide, rising, falling, ones + zeros, zeros + wide, zeros + rising, zeros + falling, zeros * 4]
    heads = common * 2 + rarer
    tails = [(), (), (0,), (1,), (0,) * (block_size - 1), (1,) * (block_size - 1)]
    return sorted((head + tail for head in heads for tail in tails if head + tail), key=len)
