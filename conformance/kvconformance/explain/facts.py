"""All that is known of one rule, put together from where each of it stands; nothing here is written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from kvconformance.bugs import BUGS
from kvconformance.explain import law, references
from kvconformance.imposters.registry import IMPOSTERS, surface_of
from kvconformance.telling.table import EngineLine, kept
from kvspec.rules import RULES, Rule

REPOSITORY = Path(__file__).parents[3]
"""Where the tests are, if this is a checkout."""


class Guard(msgspec.Struct, frozen=True):
    """A function in which an engine is found to break the rule."""

    module: str
    function: str


class Faulty(msgspec.Struct, frozen=True):
    """An imposter that must be found to break the rule."""

    name: str
    bug: str
    surface: str


class Reported(msgspec.Struct, frozen=True):
    """A public bug of a real engine that breaks the rule."""

    id: str
    reference: str
    address: str
    cause: str


class Broke(msgspec.Struct, frozen=True):
    """An engine that was found to break the rule, and the scripts that show it."""

    engine: str
    version: str
    surface: str
    findings: list[str]


class Explanation(msgspec.Struct, frozen=True):
    """What `kvspec explain RULE --json` writes. `tests` is null where there is no repository to look in."""

    id: str
    sentence: str
    text: str
    profile: str | None
    surfaces: list[str]
    falls_with_it: list[str]
    falls_with: list[str]
    sources: list[str]
    checked: str | None
    guards: list[Guard]
    tests: list[str] | None
    imposters: list[Faulty]
    bugs: list[Reported]
    engines: list[Broke]


def explanation(rule: Rule) -> Explanation:
    """Everything about a rule. Raises `KeyError` where `spec/cache.md` has no paragraph of it."""
    return Explanation(
        id=rule.id,
        sentence=rule.sentence,
        text=law.definitions()[rule.id],
        profile=rule.profile,
        surfaces=[surface.value for surface in rule.surfaces],
        falls_with_it=[other.id for other in rule.falls_with_it],
        falls_with=[other.id for other in RULES.values() if rule in other.falls_with_it],
        sources=list(rule.sources),
        checked=rule.checked,
        guards=[Guard(place.module, place.function) for place in references.guards()[rule]],
        tests=_tests(rule),
        imposters=[
            Faulty(one.__name__, one.bug, surface_of(one).value) for one in IMPOSTERS if one.broken_rule is rule
        ],
        bugs=[Reported(bug.id, bug.reference, bug.address, bug.cause) for bug in BUGS if rule in bug.rules],
        engines=list(_engines(rule)),
    )


def _tests(rule: Rule) -> list[str] | None:
    if not (REPOSITORY / "tests" / "spec").is_dir():
        return None
    return references.every_test(REPOSITORY)[rule]


def _engines(rule: Rule) -> Iterator[Broke]:
    lines: list[EngineLine] = kept(law.shipped("kvconformance", "engines.json"))
    for line in lines:
        for root in line.broken:
            if root.rule == rule.id:
                yield Broke(line.engine, line.version, root.surface, root.findings)
