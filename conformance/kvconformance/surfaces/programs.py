"""Hypothesis strategies for histories, biased to the boundaries at which caches break.

Lengths of k blocks and one token either side; pools of a few blocks more or less than one request needs; budgets of 1,
a block, and a token either side; equal prompts, a prompt that equals the second block of another, blocks of the same
tokens in another order, token ids that differ only above eight bits, names that could be a salt or an adapter. A
history has one theme, two sets of key parts that a faulty key confuses, so that requests with equal tokens meet.

A choice costs Hypothesis far more than a step costs an engine, so a world is one choice and a phrase is one choice,
both taken apart by `pick`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import gcd, prod
from typing import Any

from hypothesis import strategies as st

from kvconformance import history as h
from kvspec.vocabulary import Capabilities

WIDE = 256
"""A token that is 0 to a key that keeps eight bits, and 1 modulo 255."""
MEDIA = ("beef01", "beef02", "cafe01")
MOST_PHRASES = 8
"""Most phrases in each of the three parts of a program; a phrase is one to five operations."""
MANY = 1_000_000
TOLD = (None, None, None, 0, 1)
"""Whether a conversation goes on, and with which token."""
BESIDES = -1
"""Number of a theme that is none."""

Parts = Mapping[str, Any]
Theme = tuple[Parts, ...]
Phrase = tuple[Any, ...]


def themed(
    capabilities: Capabilities,
    program: Callable[[int, Theme], st.SearchStrategy[tuple[Any, ...]]],
    besides: Callable[[int], st.SearchStrategy[h.History]] | None = None,
) -> st.SearchStrategy[h.History]:
    """Histories of one block size and one theme; a fifth of them, if given, are others of a block size alone."""
    known = themes(capabilities)
    chosen = [(size, theme) for size in capabilities.block_sizes for theme in range(len(known))]
    if besides is not None:
        chosen += [(size, BESIDES) for size in capabilities.block_sizes] * max(1, len(known) // 4)

    @cache
    def build(choice: tuple[int, int]) -> st.SearchStrategy[h.History]:
        size, theme = choice
        if besides is not None and theme == BESIDES:
            return besides(size)
        return st.builds(history, worlds(capabilities, size), program(size, known[theme]))

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


def request_phrase(picked: dict[str, Any]) -> Phrase:
    """A request and what follows, perhaps the next prompt of the conversation: what was told and one token more."""
    after, key, told = picked.pop("after"), picked.pop("key"), picked.pop("told")
    first = h.Add(**picked, **key)
    if told is None:
        return (first, *after)
    return (first, *after, h.Add(**{**picked, "prompt": (*first.prompt, told, 0)}, **key))


def resets_and_failures(capabilities: Capabilities) -> list[Phrase]:
    """Resets and failed steps, where the engine has them."""
    phrases: list[Phrase] = []
    if capabilities.resets:
        phrases.append((h.Reset(),))
    if capabilities.fails:
        phrases += [(h.Fail(),)] * 2
    return phrases


# Requests.


def requests(capabilities: Capabilities, block_size: int, theme: Theme) -> dict[str, Sequence[Any]]:
    """The choices that make a request, with the key parts of the theme."""
    choices: dict[str, Sequence[Any]] = {
        "prompt": book(block_size),
        "max_new_tokens": (1, 1, 2, block_size, block_size + 1, block_size + 2, 2 * block_size + 1),
        "key": theme,
    }
    if capabilities.priorities:
        choices["priority"] = (0, 0, 1, 2)
    return choices


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
