"""The one function for third parties' own tests."""

from __future__ import annotations

from collections.abc import Sequence

from kvconformance.adapters import as_engine, with_profiles
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.search.supervise import check_supervised
from kvconformance.surfaces import Engine, Factory
from kvconformance.telling.report import Report
from kvspec.rules import find
from kvspec.vocabulary import Surface


def check(
    factory: Factory | Engine,
    *,
    examples: int = 1_000,
    seed: int = 0,
    seconds: float = 600.0,
    surfaces: Sequence[Surface] | None = None,
    rules: Sequence[str] | None = None,
    profiles: Sequence[str] = (),
    isolated: bool = True,
) -> Report:
    """Check an adapter class (or an `Engine` with several) and return the report.

    `examples` histories are tried on each surface, for at most `seconds` in all; `rules` restricts what is looked for.
    With `isolated` (the default, where the platform can fork) a crash or hang of the engine becomes a finding.
    Raises `NotAnAdapter` (a `ValueError`) if the object lacks methods or capabilities or a profile does nothing here,
    `KeyError` for an unknown rule.
    """
    engine = with_profiles(as_engine(factory), frozenset(profiles), surfaces)
    wanted = frozenset(find(rule) for rule in rules) if rules is not None else None
    plan = Plan(examples=examples, seed=seed, seconds=seconds, rules=wanted)
    if isolated:
        return check_supervised(lambda: engine, plan, surfaces=list(surfaces) if surfaces else None)
    return check_here(engine, plan, surfaces=surfaces)
