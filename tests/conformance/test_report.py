"""What a report says of rules that were hardly put to the test, and of those that fall with a root."""

from __future__ import annotations

from kvconformance.telling.report import OFTEN, Finding, Report, SurfaceResult, Verdict
from kvspec import rules
from kvspec.rules import RULES, Rule
from kvspec.vocabulary import Surface

CLAIMED = (rules.CONSERVATION, rules.COUNT_EQUALS_HOLDERS, rules.CONTENT_MATCHES_KEY, rules.SHARED_BYTES_NEVER_CHANGE)


def result(*exercised: int, found: tuple[Finding, ...] = (), fault: str = "") -> SurfaceResult:
    """A pool that claims four rules, each exercised so often."""
    claims = {rule.id: None if rule in CLAIMED else "not looked for" for rule in RULES.values()}
    counts = {rule.id: times for rule, times in zip(CLAIMED, exercised, strict=True)}
    return SurfaceResult(Surface.POOL, claims, counts, found, examples=9, fault=fault)


def finding_of(rule: Rule) -> Finding:
    return Finding(rule.id, Surface.POOL, "this", "that", "a world", (), (), 1, 1, 0.1, "{}", "kvspec check it")


def report(*results: SurfaceResult) -> Report:
    return Report("an engine", "1", 0, results)


def test_rules_put_to_the_test_fewer_than_a_hundred_times_are_named() -> None:
    told = report(result(OFTEN, OFTEN - 1, 0, 5000))
    assert [(each.rule, each.exercised) for each in told.seldom] == [
        (rules.CONTENT_MATCHES_KEY, 0),
        (rules.COUNT_EQUALS_HOLDERS, 99),
    ]
    assert {"surface": "pool", "id": "alloc/count-equals-holders", "exercised": 99} in told.as_data()["seldom"]


def test_a_rule_that_was_never_exercised_is_not_held() -> None:
    lines = {line.rule: line.verdict for line in report(result(OFTEN, OFTEN, 0, OFTEN)).rules}
    assert lines[rules.CONTENT_MATCHES_KEY] is Verdict.NOT_REACHED
    assert lines[rules.CONSERVATION] is Verdict.HELD
    assert lines[rules.HALF_STEP] is Verdict.NOT_CLAIMED


def test_each_surface_counts_for_itself() -> None:
    often, seldom = result(*[OFTEN] * 4), result(OFTEN, OFTEN, OFTEN, 3)
    assert [each.exercised for each in report(often, seldom).seldom] == [3]


def test_what_is_broken_or_was_not_judged_is_not_called_seldom() -> None:
    root = finding_of(rules.SHARED_BYTES_NEVER_CHANGE)
    assert not report(result(OFTEN, OFTEN, 0, 1, found=(root,))).seldom
    assert not report(result(0, 0, 0, 0, fault="the adapter failed")).seldom


def test_a_root_is_told_once_with_the_rules_that_fall_with_it() -> None:
    told = report(result(*[OFTEN] * 4, found=(finding_of(rules.SHARED_BYTES_NEVER_CHANGE),)))
    assert [found.rule for found in told.findings] == [rules.SHARED_BYTES_NEVER_CHANGE]
    fallen = next(line for line in told.rules if line.rule is rules.CONTENT_MATCHES_KEY)
    assert (fallen.verdict, fallen.finding) == (Verdict.BROKEN, None)
    assert fallen.why == "falls with prefix/shared-bytes-never-change"
    assert told.findings[0].text().count("prefix/content-matches-key") == 1
