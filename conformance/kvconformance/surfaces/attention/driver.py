"""Drives a kernel through a history: each operation is one problem and one probe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kvconformance import history as h
from kvconformance.checker import Checker, Guarded
from kvconformance.surfaces.attention import merges, probes, writes
from kvconformance.surfaces.attention.judging.blame import Suspect
from kvconformance.surfaces.attention.judging.certified import Allowed, allowed
from kvconformance.surfaces.attention.judging.outcomes import Outcome, Wrong, attend, judges_lse, wrong
from kvconformance.surfaces.attention.operations import Attend, Merge, WriteRows
from kvconformance.surfaces.attention.problems.numbers import Problem, problem_of
from kvconformance.surfaces.attention.problems.placements import Placement, place
from kvconformance.surfaces.attention.protocol import AttentionCall, AttentionCapabilities
from kvconformance.surfaces.base import Factory
from kvreference.tolerance.declaration import Declaration
from kvspec import rules
from kvspec.rules import Rule
from kvspec.vocabulary import World

RAISES = rules.DECLARED_TOLERANCE


def fatal(history: h.History) -> Rule | None:
    """Far blocks are what kills a kernel that reads beyond."""
    far = any(isinstance(operation, Attend) and operation.probe == "far" for operation in history.operations)
    return rules.ADDRESS_RANGE if far else None


def flaw(capabilities: AttentionCapabilities) -> str:
    """A cache that no head fits."""
    for name, cache in capabilities.caches.items():
        if not any(map(cache.holds, cache.head_dims or capabilities.head_dims)):
            return f"a cache {name!r} that holds none of its head dims; add one"
    return ""


class AttentionDriver:
    """One checker, one kernel object, one history."""

    def __init__(self, factory: Factory, checker: Checker) -> None:
        self.factory, self.checker = factory, checker
        self.tally = checker.tally
        self.capabilities: AttentionCapabilities = factory.capabilities  # type: ignore[attr-defined]
        self.engine = self.build()

    @property
    def world(self) -> World:
        """The configuration."""
        return self.checker.world

    def build(self) -> Any:
        """A fresh kernel."""
        return Guarded(self.checker, RAISES)("building the kernel", self.factory, self.world)

    def run(self, operations: tuple[h.Operation, ...]) -> None:
        """Try every operation that fits the pool."""
        for operation in operations:
            self.checker.note(operation)
            if isinstance(operation, Attend):
                if not self.capabilities.holds(operation.cache, operation.dtype, operation.heads[2]):
                    continue
                problem = self.problem(operation)
                # Some probes undo the sharing of blocks.
                if replace(problem, shared=0).blocks(self.world.block_size) <= self.world.num_blocks:
                    probes.PROBES[operation.probe](self, problem, operation)
            elif isinstance(operation, Merge):
                merges.merge(self, operation)
            elif isinstance(operation, WriteRows):
                writes.write(self, operation)

    def problem(self, operation: Attend) -> Problem:
        """The numbers of an operation."""
        return problem_of(operation, self.world.block_size, self.capabilities.caches)

    def declaration(self, problem: Problem) -> Declaration:
        """The arithmetic that the kernel declares for a problem."""
        return self.capabilities.over(problem.cache_name, problem.dtype)

    def placement(self, operation: Attend) -> Placement:
        """Where the blocks of an operation lie at first."""
        return Placement(self.world.num_blocks, self.world.block_size, operation.order)

    def bounds(self, problem: Problem) -> Allowed:
        """The outputs that are allowed."""
        return allowed(problem, self.declaration(problem), self.capabilities.lse_error)

    def certify(self, problem: Problem, placement: Placement, bounds: Allowed | None = None) -> Outcome:
        """Attend and require an allowed answer; a wrong one is blamed on a rule."""
        probes.count(self.tally, problem, placement, self.capabilities)
        return self.judge(problem, placement, place(problem, placement), bounds)

    def judge(self, problem: Problem, placement: Placement, call: AttentionCall, bounds: Allowed | None) -> Outcome:
        """The same for a call that is already in memory."""
        outcome = attend(self.engine, call)
        found = wrong(outcome, bounds or self.bounds(problem), judge_lse=judges_lse(problem, self.capabilities))
        if found:
            suspect = Suspect(self.build, self.capabilities, problem, placement, found.row)
            self.broken(suspect.rule(), found, problem)
        if outcome.changed:
            seen = f"the call changes its input {', '.join(outcome.changed)}"
            self.tally.broken(rules.FRESH_METADATA, seen, "inputs stay as they were")
        return outcome

    def broken(self, rule: Rule, found: Wrong, problem: Problem) -> None:
        """Report a wrong element, with the request to which its row belongs."""
        first = 0
        for request, (tokens, queries) in enumerate(problem.lengths):
            if first <= found.row < first + queries:
                position = tokens - queries + found.row - first
                where = f"query at position {position} of {tokens}"
                if position < 0:
                    where = f"query {found.row - first} of {queries}, which is older than its {tokens} cached tokens"
                seen = f"{found.seen}; it is request {request}'s {where}"
                self.tally.broken(rule, seen, found.expected, row=found.row, head=found.head)
            first += queries
        self.tally.broken(rule, found.seen, found.expected)
