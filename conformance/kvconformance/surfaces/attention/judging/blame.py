"""Which rule a wrong output breaks: what is put right, one thing at a time, until the output is right, tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kvconformance.surfaces.attention.judging.certified import allowed
from kvconformance.surfaces.attention.judging.outcomes import attend, judges_lse, wrong
from kvconformance.surfaces.attention.problems.numbers import Problem
from kvconformance.surfaces.attention.problems.placements import Placement, place
from kvconformance.surfaces.attention.protocol import TOKEN_MAJOR, AttentionCapabilities
from kvspec import rules
from kvspec.rules import Rule

Change = Callable[[Problem, Placement], tuple[Problem, Placement]]


@dataclass(frozen=True)
class Suspect:
    """A kernel that gave a wrong output in a query row (-1: it raised), with what it was given.

    `build` makes a fresh one.
    """

    build: Callable[[], Any]
    capabilities: AttentionCapabilities
    problem: Problem
    placement: Placement
    row: int = -1

    def right(self, problem: Problem, placement: Placement) -> bool:
        """Whether a fresh kernel is right on another problem or placement."""
        declaration = self.capabilities.over(problem.cache_name, problem.dtype)
        bounds = allowed(problem, declaration, self.capabilities.lse_error)
        outcome = attend(self.build(), place(problem, placement))
        return wrong(outcome, bounds, judge_lse=judges_lse(problem, self.capabilities)) is None

    def rule(self) -> Rule:
        """The rule that is broken."""
        problem, placement = self.problem, self.placement
        if self.right(problem, placement):
            return rules.FRESH_METADATA
        if (of_scales := self._of_scales()) is not None:
            return of_scales
        for applies, rule, change in _CHANGES:
            if applies(problem, placement) and self._convicts(rule, change):
                return rule
        requests = range(len(problem.lengths))
        if len(requests) > 1 and all(self.right(problem.only([r]), placement) for r in requests):
            return rules.POISON_INDEPENDENCE
        return self._by_bytes()

    def _convicts(self, rule: Rule, change: Change | None) -> bool:
        """Whether a change puts the output right, and not by taking the wrong row, or what is wrong about it, away."""
        if change is None:
            return self._only_empty()
        return self.right(*change(self.problem, self.placement)) and (rule is not rules.EXACT_MASK or self._masked())

    def _only_empty(self) -> bool:
        """Whether the rest is right without empty requests, or without the wrong row, where that sees no key."""
        problem = self.problem
        wrong = [where for where in _rows(problem) if self.row in (-1, where[0])]
        empty = not any(problem.seen(request, index) for _, request, index in wrong)
        spared = set() if empty or self.row < 0 else {request for _, request, _ in wrong}
        kept = [r for r in range(len(problem.lengths)) if r in spared or not _empty(problem, r)]
        if not empty and len(kept) in (0, len(problem.lengths)):
            return False
        return self.right(problem.only(kept, padding=True), self.placement)

    def _masked(self) -> bool:
        """Whether the wrong row is right over the keys that it sees and no others, so that nothing is to be masked.

        With more keys to see an error of some may be too small to be found.
        """
        for row, request, index in _rows(self.problem):
            if row == self.row:
                return self.right(_seen_alone(self.problem, request, index), self.placement)
        return True

    def _of_scales(self) -> Rule | None:
        """Which rule of scales is broken: with scales that are all alike, or all 1, the output is right."""
        problem, cache = self.problem, self.problem.cache
        if cache is None or not problem.keys:
            return None
        plain = replace(problem, cache=None)
        if problem.dtype in self.capabilities.arithmetic and not self.right(plain, self.placement):
            return None
        kv_heads = problem.keys[0].shape[1]
        changes = ((rules.SCALE_TRAVELS, cache.alike(kv_heads)), (rules.ONE_SCALE, cache.unscaled(kv_heads)))
        right = (rule for rule, other in changes if self.right(replace(problem, cache=other), self.placement))
        return next(right, None)

    def _by_bytes(self) -> Rule:
        """Nothing puts it right; so bytes that belong to nobody decide the output, or the numbers are wrong."""
        calls = (place(self.problem, replace(self.placement, garbage=seed)) for seed in (101, 102))
        first, second = (attend(self.build(), call) for call in calls)
        return rules.DECLARED_TOLERANCE if first.same_bits(second) else rules.POISON_INDEPENDENCE


def _ascending(problem: Problem, placement: Placement) -> tuple[Problem, Placement]:
    return replace(problem, layout=TOKEN_MAJOR), replace(placement, order=None, gap=0)


def _without_padding(problem: Problem, placement: Placement) -> tuple[Problem, Placement]:
    return replace(problem, query=problem.query[: problem.rows]), placement


def _without_sharing(problem: Problem, placement: Placement) -> tuple[Problem, Placement]:
    more = placement.num_blocks + len(problem.lengths) * (problem.shared // placement.block_size)
    return replace(problem, shared=0), replace(placement, num_blocks=more)


def _rows(problem: Problem) -> list[tuple[int, int, int]]:
    """Each row without padding: its number, its request, its number among the rows of that."""
    of_requests = ((r, index) for r, (_, queries) in enumerate(problem.lengths) for index in range(queries))
    return [(row, request, index) for row, (request, index) in enumerate(of_requests)]


def _seen_alone(problem: Problem, request: int, index: int) -> Problem:
    """One row over exactly the keys that it sees, as the only row of the only request."""
    row = next(row for row, *where in _rows(problem) if where == [request, index])
    seen = problem.seen(request, index)
    keys, values = (arrays[request][seen.start : seen.stop] for arrays in (problem.keys, problem.values))
    return replace(
        problem,
        lengths=((len(keys), 1),),
        query=problem.query[[row]],
        keys=(keys,),
        values=(values,),
        layer=replace(problem.layer, window=None),
        shared=0,
        sharers=0,
    )


def _empty(problem: Problem, request: int) -> bool:
    return any(not problem.seen(request, index) for index in range(problem.lengths[request][1]))


def _no_window(problem: Problem, placement: Placement) -> tuple[Problem, Placement]:
    return replace(problem, layer=replace(problem.layer, window=None)), placement


def _all_seen(problem: Problem, placement: Placement) -> tuple[Problem, Placement]:
    return replace(problem, layer=replace(problem.layer, causal=False)), placement


def _no_context(problem: Problem, placement: Placement) -> tuple[Problem, Placement]:
    kept = [min(tokens, queries) for tokens, queries in problem.lengths]
    keys, values = (
        tuple(x[len(x) - count :] for x, count in zip(arrays, kept, strict=True))
        for arrays in (problem.keys, problem.values)
    )
    lengths = tuple((count, queries) for count, (_, queries) in zip(kept, problem.lengths, strict=True))
    return replace(problem, lengths=lengths, keys=keys, values=values, shared=0), placement


_Applies = Callable[[Problem, Placement], bool]
_CHANGES: tuple[tuple[_Applies, Rule, Change | None], ...] = (
    (lambda p, _: p.splits > 1, rules.SPLIT_EQUALS_WHOLE, lambda p, w: (replace(p, splits=1), w)),
    (lambda p, _: p.shared > 0 and p.sharers > 1, rules.SPLIT_EQUALS_WHOLE, _without_sharing),
    (lambda p, _: len(p.query) > p.rows, rules.PADDING_WRITES_NOTHING, _without_padding),
    (
        lambda p, _: any(_empty(p, r) for r in range(len(p.lengths))),
        rules.EMPTY_IS_IDENTITY,
        None,
    ),
    (lambda p, w: w.order is not None or w.gap > 0 or p.layout != TOKEN_MAJOR, rules.RELABEL_INVARIANCE, _ascending),
    (lambda p, _: p.layer.window is not None, rules.EXACT_MASK, _no_window),
    (lambda p, _: p.layer.causal and any(q > 1 for _, q in p.lengths), rules.EXACT_MASK, _all_seen),
    (
        lambda p, _: any(tokens > queries > 1 for tokens, queries in p.lengths),
        rules.SPLIT_EQUALS_WHOLE,
        _no_context,
    ),
)
"""When a change applies, the rule that it shows broken where it puts the output right, and the change.

None leaves out requests that have a row without keys, and spares that of the wrong row where that has some.
"""
