"""Merging of partial results: given states, and a context that is attended in two parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kvconformance.surfaces.attention.judging.certified import Parts, merged
from kvconformance.surfaces.attention.judging.outcomes import Outcome, wrong
from kvconformance.surfaces.attention.operations import Attend, Merge
from kvconformance.surfaces.attention.problems.numbers import Problem
from kvconformance.surfaces.attention.protocol import Attended, loaded, stored
from kvreference.tolerance.declaration import Declaration
from kvspec import rules
from kvspec.violation import HarnessFault, Violation, Waived

if TYPE_CHECKING:
    from kvconformance.surfaces.attention.driver import AttentionDriver

STATES = ("normal", "empty", "low", "high")


def merge(driver: AttentionDriver, operation: Merge) -> None:
    """Two made-up states for each row, some of them empty or of very different mass."""
    rng = np.random.default_rng(operation.seed)
    rows, (heads, dim) = len(operation.states), operation.heads
    declaration = driver.capabilities.arithmetic[operation.dtype]
    dtype = declaration.output
    sides = []
    for side in (0, 1):
        lse = np.array([_lse(pair[side]) for pair in operation.states])[:, None] + rng.standard_normal((rows, heads))
        output = rng.standard_normal((rows, heads, dim))
        output[np.isneginf(lse)] = 0.0
        sides.append(Outcome(loaded(stored(output, dtype), dtype), lse.astype(np.float32).astype(np.float64)))
    _judge(driver, sides[0], sides[1], declaration)


def _lse(state: str) -> float:
    return {"normal": 0.0, "empty": -np.inf, "low": -40.0, "high": 40.0}[state]


def cascade(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """The context of each request in two parts, cut at a block: each is right, and so is their merge."""
    placement, can = driver.placement(operation), driver.capabilities
    layer = problem.layer
    driver.certify(problem, placement)
    simple = layer.causal and layer.window is None and layer.sinks is None
    if not (can.lse and can.noncausal and hasattr(driver.engine, "merge") and simple):
        return
    size = driver.world.block_size
    # Behind all of the context or half of it; a context shorter than a block gives an empty part.
    cuts = [max(t - q, 0) // (1 + operation.seed % 2) // size * size for t, q in problem.lengths]
    before, after = _part(problem, cuts, first=True), _part(problem, cuts, first=False)
    a, b = driver.certify(before, placement), driver.certify(after, placement)
    driver.tally.met(rules.SPLIT_EQUALS_WHOLE)
    _judge(driver, a, b, driver.declaration(problem))


def _part(problem: Problem, cuts: list[int], first: bool) -> Problem:
    lengths, keys, values = [], [], []
    for cut, (tokens, queries), key, value in zip(cuts, problem.lengths, problem.keys, problem.values, strict=True):
        lengths.append((cut if first else tokens - cut, queries))
        keys.append(key[:cut] if first else key[cut:])
        values.append(value[:cut] if first else value[cut:])
    layer = replace(problem.layer, causal=not first)
    return replace(problem, lengths=tuple(lengths), keys=tuple(keys), values=tuple(values), layer=layer, shared=0)


def _judge(driver: AttentionDriver, a: Outcome, b: Outcome, declaration: Declaration) -> None:
    """Merge two states and require an allowed result."""
    if a.lse is None or b.lse is None or not hasattr(driver.engine, "merge"):
        return
    bounds = merged(Parts((a.output, b.output), (a.lse, b.lse)), declaration, driver.capabilities.lse_error)
    empty = np.isneginf(a.lse) | np.isneginf(b.lse)
    joined = _call(driver, a, b, declaration.output)
    for rule, chosen in ((rules.EMPTY_IS_IDENTITY, empty), (rules.SPLIT_EQUALS_WHOLE, ~empty)):
        rows = np.flatnonzero(chosen.any(axis=1)).tolist()
        if not rows:
            continue
        driver.tally.met(rule)
        found = wrong(joined, bounds, judge_lse=True)
        if found and (found.row < 0 or chosen[found.row, found.head]):
            both = " and ".join(f"{x[found.row, found.head]:.6g}" for x in (a.lse, b.lse))
            seen = f"merging states with LSE {both}, {found.seen}"
            driver.tally.broken(rule, seen, found.expected, row=found.row)


def _call(driver: AttentionDriver, a: Outcome, b: Outcome, dtype: str) -> Outcome:
    states = [Attended(stored(x.output, dtype), np.asarray(x.lse, np.float32)) for x in (a, b)]
    try:
        answer = driver.engine.merge(*states, dtype)
    except (Violation, Waived, HarnessFault):
        raise
    except Exception as error:  # whatever a stranger's kernel raises is an answer to be judged
        return Outcome(np.zeros(0), None, f"merge raises {type(error).__name__}: {str(error)[:300]}")
    if np.shape(answer.output) != a.output.shape or np.shape(answer.lse) != a.output.shape[:2]:
        raise HarnessFault(f"merge() returns shapes {np.shape(answer.output)} and {np.shape(answer.lse)}")
    return Outcome(np.asarray(answer.output, np.float64), np.asarray(answer.lse, np.float64))
