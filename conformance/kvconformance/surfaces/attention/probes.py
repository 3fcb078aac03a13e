"""What is varied, and what must then stay the same: bits where the arithmetic is the same, else the certified interval.

A kernel that does not give the same bits for the same call is no suspect: before a difference of bits is reported,
both calls are repeated, and where either of them varies the certificates alone judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kvconformance.surfaces.attention.judging.outcomes import Outcome, attend, judges_lse, wrong
from kvconformance.surfaces.attention.merges import cascade
from kvconformance.surfaces.attention.operations import Attend
from kvconformance.surfaces.attention.problems.numbers import Problem
from kvconformance.surfaces.attention.problems.placements import Placement, hidden, place, poisoned, unowned
from kvconformance.surfaces.attention.protocol import TOKEN_MAJOR, AttentionCall, AttentionCapabilities
from kvspec import rules
from kvspec.rules import Rule
from kvspec.violation import Tally

if TYPE_CHECKING:
    from kvconformance.surfaces.attention.driver import AttentionDriver

REPEATS = 3
"""Calls on each side before a difference of bits is believed."""


def count(tally: Tally, problem: Problem, placement: Placement, capabilities: AttentionCapabilities) -> None:
    """Count the rules whose precondition one certified call meets."""
    tally.met(rules.DECLARED_TOLERANCE)
    if problem.cache is not None:
        tally.met(rules.ONE_SCALE)
        tally.met(rules.SCALE_TRAVELS)
    if placement.order is not None or problem.layout != TOKEN_MAJOR:
        tally.met(rules.RELABEL_INVARIANCE)
    if len(problem.query) > problem.rows:
        tally.met(rules.PADDING_WRITES_NOTHING)
    requests = range(len(problem.lengths))
    if any(not problem.seen(r, i) for r in requests for i in range(problem.lengths[r][1])):
        tally.met(rules.EMPTY_IS_IDENTITY)
    if problem.splits > 1 or problem.shared or any(tokens > queries > 1 for tokens, queries in problem.lengths):
        tally.met(rules.SPLIT_EQUALS_WHOLE)
    if any(len(problem.seen(r, i)) < problem.lengths[r][0] for r in requests for i in range(problem.lengths[r][1])):
        tally.met(rules.EXACT_MASK)


def plain(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """The batch as it is."""
    driver.certify(problem, driver.placement(operation))


def relabel(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """Other block ids, and padded strides: the same bits."""
    placement = driver.placement(operation)
    first = driver.certify(problem, placement)
    for other in (replace(placement, order=operation.seed + 1), replace(placement, gap=3)):
        driver.tally.met(rules.RELABEL_INVARIANCE)
        _same(driver, problem, (placement, other), first, rules.RELABEL_INVARIANCE, "with other block ids or strides")


def poison(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """NaN in every byte that no row may read: the same bits."""
    placement = driver.placement(operation)
    first = driver.certify(problem, placement)
    if unowned(problem, placement):
        driver.tally.met(rules.POISON_INDEPENDENCE)
    spoilt = place(poisoned(problem), replace(placement, garbage=None))
    clean = place(problem, placement)
    what = f"with NaN in unowned bytes{' and behind the window' if hidden(problem) else ''}"
    _compare(driver, problem, (clean, spoilt), first, rules.POISON_INDEPENDENCE, what)


def later(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """The newest token of a request is replaced: rows that do not see it keep their bits."""
    placement = driver.placement(operation)
    first = driver.certify(problem, placement)
    if not problem.layer.causal:
        return
    keys, values = ([x.copy() for x in arrays] for arrays in (problem.keys, problem.values))
    for request, (tokens, _) in enumerate(problem.lengths):
        if tokens > problem.prefix(request):
            keys[request][-1], values[request][-1] = -keys[request][-1], values[request][-1] + 1
    changed = replace(problem, keys=tuple(keys), values=tuple(values))
    ends = np.cumsum([queries for _, queries in problem.lengths]).tolist()
    rows = [row for row in range(problem.rows) if row + 1 not in ends]
    if rows:
        driver.tally.met(rules.EXACT_MASK)
        calls = (place(problem, placement), place(changed, placement))
        _compare(driver, problem, calls, first, rules.EXACT_MASK, "with another newest token", rows)


def alone(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """Each request by itself: the same bits where that is declared, else within the certificate."""
    placement = driver.placement(operation)
    together = driver.certify(problem, placement)
    first = 0
    for request, (_, queries) in enumerate(problem.lengths):
        rows = list(range(first, first + queries))
        first += queries
        if queries and len(problem.lengths) > 1:
            by_itself = driver.certify(problem.only([request]), placement)
            _declared(driver, together.rows(rows), by_itself, f"request {request} alone and in the batch")


def chunks(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """The rows of the first request in two chunks: within the certificate, the same bits where that is declared."""
    queries = problem.lengths[0][1]
    if queries < 2 or not problem.layer.causal:
        return plain(driver, problem, operation)
    problem, placement = problem.only([0]), driver.placement(operation)
    whole, cut = driver.certify(problem, placement), 1 + operation.seed % (queries - 1)
    driver.tally.met(rules.SPLIT_EQUALS_WHOLE)
    for start, stop in ((0, cut), (cut, queries)):
        part, what = driver.certify(problem.chunk(start, stop), placement), f"rows {start} to {stop - 1} as one chunk"
        _declared(driver, whole.rows(list(range(start, stop))), part, what)
    return None


def again(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """The same arrays are refilled with another batch, longer or shorter, as engines do that replay a graph."""
    placement = driver.placement(operation)
    call = place(problem, placement)
    driver.judge(problem, placement, call, None)
    lengths = tuple((_shorter(tokens, queries, r), queries) for r, (tokens, queries) in enumerate(problem.lengths))
    other = driver.problem(_with(operation, lengths))
    moved = replace(placement, order=operation.seed + 1)
    refilled = place(other, moved)
    width = min(call.tables.shape[1], refilled.tables.shape[1])
    call.tables[:, :width] = refilled.tables[:, :width]
    for name, array in {"out": call.out, **call.inputs()}.items():
        if name != "tables":
            array[...] = getattr(refilled, name)
    driver.tally.met(rules.FRESH_METADATA)
    driver.judge(other, moved, call, None)


def far(driver: AttentionDriver, problem: Problem, operation: Attend) -> None:
    """Blocks beyond 2**32 elements, by huge ids and by a huge stride: right, or refused."""
    placement = driver.placement(operation)
    problem = replace(problem, layout=TOKEN_MAJOR)
    driver.certify(problem, placement)
    in_place = driver.capabilities.in_place if problem.cache is None else problem.cache.format.in_place
    for kind in ("dense", "stride") if in_place else ():
        _far(driver, problem, replace(placement, far=kind))


def _far(driver: AttentionDriver, problem: Problem, placement: Placement) -> None:
    try:
        call = place(problem, placement)
    except (OSError, ValueError, OverflowError):
        return  # this machine has no such address space
    driver.tally.met(rules.ADDRESS_RANGE)
    outcome = attend(driver.engine, call)
    if outcome.raised:
        return
    found = wrong(outcome, driver.bounds(problem), judge_lse=judges_lse(problem, driver.capabilities))
    if found:
        low, high = int(call.tables.min()), int(call.tables.max())
        found = replace(found, seen=f"{found.seen}, with block ids {low} to {high} beyond 2**32 elements")
        driver.broken(rules.ADDRESS_RANGE, found, problem)


def _shorter(tokens: int, queries: int, request: int) -> int:
    return tokens - 1 - request % 2 if tokens - 1 - request % 2 >= queries else tokens


def _with(operation: Attend, lengths: tuple[tuple[int, int], ...]) -> Attend:
    fields = {name: getattr(operation, name) for name in operation.__struct_fields__}
    return Attend(**{**fields, "lengths": lengths, "seed": operation.seed + 1})


def _same(
    driver: AttentionDriver,
    problem: Problem,
    placements: tuple[Placement, Placement],
    first: Outcome,
    rule: Rule,
    what: str,
) -> None:
    calls = (place(problem, placements[0]), place(problem, placements[1]))
    _compare(driver, problem, calls, first, rule, what)


def _compare(
    driver: AttentionDriver,
    problem: Problem,
    calls: tuple[AttentionCall, AttentionCall],
    first: Outcome,
    rule: Rule,
    what: str,
    rows: list[int] | None = None,
) -> None:
    """Require the bits of `first`, the outcome of the first call, from the second, in `rows`."""
    rows = list(range(problem.rows)) if rows is None else rows
    second = attend(driver.engine, calls[1])
    if first.rows(rows).same_bits(second.rows(rows)):
        return
    if second.raised:
        driver.tally.broken(rule, f"{what}, {second.raised}", "the answer without them")
    if not _repeats(driver, calls, (first, second)):
        bounds, whole = driver.bounds(problem), len(rows) == problem.rows
        if whole and (found := wrong(second, bounds, judge_lse=judges_lse(problem, driver.capabilities))):
            driver.broken(rule, found, problem)
        return
    row, head, element = _first_difference(first.rows(rows), second.rows(rows))
    seen, wanted = second.output[rows[row], head, element], first.output[rows[row], head, element]
    driver.tally.broken(
        rule,
        f"{what}, row {rows[row]} head {head} element {element} is {seen:.9g}",
        f"the same bits, {wanted:.9g}",
        row=rows[row],
        head=head,
    )


def _repeats(
    driver: AttentionDriver, calls: tuple[AttentionCall, AttentionCall], outcomes: tuple[Outcome, Outcome]
) -> bool:
    """Whether both calls give the same bits every time."""
    return all(
        outcome.same_bits(attend(driver.engine, call))
        for call, outcome in zip(calls, outcomes, strict=True)
        for _ in range(REPEATS)
    )


def _first_difference(a: Outcome, b: Outcome) -> tuple[int, int, int]:
    off = np.argwhere(~(a.output == b.output))
    row, head, element = off[0].tolist() if len(off) else (0, 0, 0)
    return row, head, element


def _declared(driver: AttentionDriver, a: Outcome, b: Outcome, what: str) -> None:
    """Two right answers may differ by rounding, unless batch invariance is declared."""
    driver.tally.met(rules.DECLARED_TOLERANCE)
    if driver.capabilities.batch_invariant and not a.same_bits(b):
        row, head, element = _first_difference(a, b)
        seen = f"{what}: {b.output[row, head, element]:.9g} and {a.output[row, head, element]:.9g}"
        driver.tally.broken(rules.DECLARED_TOLERANCE, seen, "the same bits, as batch invariance is declared")


Probe = Callable[["AttentionDriver", Problem, Attend], None]
PROBES: dict[str, Probe] = {
    "plain": plain,
    "relabel": relabel,
    "poison": poison,
    "later": later,
    "alone": alone,
    "chunks": chunks,
    "cascade": cascade,
    "again": again,
    "far": far,
}
"""The probes by name."""
