"""The report: a verdict per rule, each finding told once, as text, as JSON and as an exception.

Everything here is plain data, so that it travels from a child process as JSON and is validated on the way.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from kvconformance.exhaust.covered import Covered
from kvconformance.history import History
from kvconformance.search.examples import Found
from kvconformance.surfaces.registry import kind_of
from kvconformance.telling import story
from kvspec import SPEC_VERSION
from kvspec.rules import RULES, Rule
from kvspec.violation import Violation
from kvspec.vocabulary import Surface


class Verdict(Enum):
    """What kvspec says of a rule. `HELD` only ever comes with the number of times the rule was put to the test."""

    HELD = "held"
    BROKEN = "broken"
    NOT_REACHED = "not reached"
    NOT_CLAIMED = "not claimed"
    HARNESS_FAULT = "harness fault"


@dataclass(frozen=True)
class Finding:
    """A broken rule, standing alone: what was seen, the smallest history, the ghost memory, how to rerun it."""

    rule_id: str
    surface: Surface
    seen: str
    expected: str
    world: str
    steps: tuple[str, ...]
    ghost: tuple[str, ...]
    examples: int
    operations: int
    seconds: float
    history: str
    rerun: str

    @property
    def rule(self) -> Rule:
        """The broken rule."""
        return RULES[self.rule_id]

    @property
    def falls_with_it(self) -> tuple[str, ...]:
        """The ids of the rules that fall with this one."""
        return tuple(rule.id for rule in self.rule.falls_with_it)

    def text(self) -> str:
        """The finding as a person reads it."""
        lines = [f"✗ {self.rule_id:<44} broken after {self.examples} examples", f"  {self.rule.sentence}"]
        if self.falls_with_it:
            lines.append(f"  falls with it: {', '.join(self.falls_with_it)}")
        lines += ["", f"  world: {self.world}", *(f"  {step}" for step in self.steps)]
        lines += ["", f"       seen      {self.seen}", f"       expected  {self.expected}"]
        if self.ghost:
            lines += ["", *(f"       {line}" for line in self.ghost)]
        return "\n".join([*lines, "", f"  rerun   {self.rerun}"])

    def as_data(self) -> dict[str, Any]:
        """The finding as JSON data."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        del data["rule_id"]
        return {**data, "falls_with_it": list(self.falls_with_it)}


def finding(found: Found, surface: Surface, engine: str) -> Finding:
    """Tell a found trial of the engine that the command line calls `engine`."""
    trial = found.trial
    if trial.violation is None:
        raise ValueError("a trial without a violation is no finding")
    told_by = kind_of(surface).story
    told = finding_of(found.rule, surface, trial.history, trial.violation, engine)
    return replace(
        told,
        steps=tuple(told_by.steps(trial.checker.events, trial.history.block_size)) or told.steps,
        ghost=tuple(told_by.ghost(trial.checker.state, trial.violation)),
        examples=found.examples,
        seconds=round(found.seconds, 3),
    )


def finding_of(rule: Rule, surface: Surface, history: History, violation: Violation, engine: str) -> Finding:
    """A finding of which only the history is known."""
    written = history.to_json().decode()
    return Finding(
        rule_id=rule.id,
        surface=surface,
        seen=violation.seen,
        expected=violation.expected,
        world=kind_of(surface).story.world(history),
        steps=tuple(story.operations(history)),
        ghost=(),
        examples=1,
        operations=len(history.operations),
        seconds=0.0,
        history=written,
        rerun=f"kvspec check {shlex.quote(engine)} --surface {surface.value} --history {shlex.quote(written)}",
    )


@dataclass(frozen=True)
class SurfaceResult:
    """What the search of one surface gave. `claims` has, per rule id, why it does not bind the surface, or None."""

    surface: Surface
    claims: dict[str, str | None]
    exercised: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    examples: int = 0
    seconds: float = 0.0
    complete: bool = True
    fault: str = ""
    covered: tuple[Covered, ...] = ()
    ended: str = ""
    """What ended the search before it was done, in words, if something did."""


@dataclass(frozen=True)
class RuleReport:
    """One rule's line."""

    rule: Rule
    verdict: Verdict
    exercised: int = 0
    finding: Finding | None = None
    why: str = ""

    def as_data(self) -> dict[str, Any]:
        """The line as JSON data."""
        return {
            "id": self.rule.id,
            "verdict": self.verdict.value,
            "exercised": self.exercised,
            "finding": self.finding.as_data() if self.finding else None,
            "why": self.why,
        }


OFTEN = 100
"""A claimed rule that was put to the test less often than this on a surface is named in the report."""


@dataclass(frozen=True)
class Seldom:
    """A rule that binds the surface and was put to the test fewer than `OFTEN` times on it."""

    surface: Surface
    rule: Rule
    exercised: int


class Broken(AssertionError):
    """Raised by `Report.raise_if_broken`: the text holds every finding."""


class HarnessFaulty(RuntimeError):
    """Raised by `Report.raise_if_broken` where kvspec or the adapter failed, and the engine was not judged."""


@dataclass(frozen=True)
class Report:
    """The whole answer for one engine."""

    engine: str
    engine_version: str
    seed: int
    results: tuple[SurfaceResult, ...]
    kvspec_version: str = ""
    spec_version: str = SPEC_VERSION

    @property
    def rules(self) -> tuple[RuleReport, ...]:
        """A line per rule of the catalogue, in its order."""
        return tuple(_line(self.results, rule) for rule in RULES.values())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, one for each rule."""
        return tuple(line.finding for line in self.rules if line.finding is not None)

    @property
    def seldom(self) -> tuple[Seldom, ...]:
        """What this run says little about: rules, not broken, that a surface put to the test fewer than 100 times."""
        broken = {line.rule for line in self.with_verdict(Verdict.BROKEN)}
        return tuple(
            Seldom(result.surface, rule, result.exercised.get(rule.id, 0))
            for result in self.results
            for rule in RULES.values()
            if result.claims.get(rule.id, "") is None and rule not in broken and not result.fault
            if result.exercised.get(rule.id, 0) < OFTEN
        )

    @property
    def fault(self) -> str:
        """What failed in kvspec or the adapter, if anything."""
        return "; ".join(f"{r.surface.value}: {r.fault}" for r in self.results if r.fault)

    @property
    def exit_status(self) -> int:
        """0 nothing broken, 1 a rule broken, 3 harness fault."""
        if self.fault:
            return 3
        return 1 if self.findings else 0

    def with_verdict(self, verdict: Verdict) -> tuple[RuleReport, ...]:
        """The rules with this verdict."""
        return tuple(line for line in self.rules if line.verdict is verdict)

    def verdicts(self) -> dict[str, dict[str, int]]:
        """How many rules have each verdict, surface by surface; those that do not bind a surface are left out."""
        told = {}
        for result in self.results:
            lines = [
                _line((result,), rule).verdict for rule in RULES.values() if result.claims.get(rule.id, "") is None
            ]
            told[result.surface.value] = {v.value: lines.count(v) for v in Verdict if v in lines}
        return told

    def raise_if_broken(self) -> None:
        """For a test in somebody's CI: raise with the whole story if a rule is broken."""
        if self.fault:
            raise HarnessFaulty(self.fault)
        if self.findings:
            raise Broken("\n\n" + "\n\n".join(finding.text() for finding in self.findings))

    def as_data(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "engine": self.engine,
            "engine_version": self.engine_version,
            "kvspec_version": self.kvspec_version or kvspec_version(),
            "spec_version": self.spec_version,
            "seed": self.seed,
            "examples": {result.surface.value: result.examples for result in self.results},
            "verdicts": self.verdicts(),
            "seconds": {result.surface.value: round(result.seconds, 2) for result in self.results},
            "incomplete": [result.surface.value for result in self.results if not result.complete],
            "seldom": [
                {"surface": each.surface.value, "id": each.rule.id, "exercised": each.exercised} for each in self.seldom
            ],
            "fault": self.fault or None,
            "rules": [line.as_data() for line in self.rules],
        }

    def to_json(self) -> bytes:
        """The report as indented JSON."""
        return msgspec.json.format(msgspec.json.encode(self.as_data()), indent=2) + b"\n"


def _line(results: Sequence[SurfaceResult], rule: Rule) -> RuleReport:
    """The verdict of one rule over all surfaces that were checked."""
    found = [finding for result in results for finding in result.findings]
    own = next((finding for finding in found if finding.rule is rule), None)
    binding = [result for result in results if result.claims.get(rule.id, "") is None]
    exercised = sum(result.exercised.get(rule.id, 0) for result in binding)
    if own is not None:
        return RuleReport(rule, Verdict.BROKEN, exercised, own)
    if not binding:
        return RuleReport(rule, Verdict.NOT_CLAIMED, why=_why_not(results, rule))
    roots = [finding.rule_id for finding in found if rule.id in finding.falls_with_it]
    if roots:
        return RuleReport(rule, Verdict.BROKEN, exercised, why=f"falls with {', '.join(roots)}")
    faults = [result.fault for result in binding if result.fault]
    if faults:
        return RuleReport(rule, Verdict.HARNESS_FAULT, exercised, why=faults[0])
    return RuleReport(rule, Verdict.HELD if exercised else Verdict.NOT_REACHED, exercised)


def _why_not(results: Sequence[SurfaceResult], rule: Rule) -> str:
    reasons = [result.claims[rule.id] for result in results if result.surface in rule.surfaces]
    where = " and ".join(surface.value for surface in rule.surfaces)
    return next((reason for reason in reasons if reason), f"a rule of {where}, which was not checked")


def kvspec_version() -> str:
    """The installed version of kvspec."""
    try:
        return version("kvspec")
    except PackageNotFoundError:
        return "not installed"
