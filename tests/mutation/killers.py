"""The killers, cheapest first: tests written from the rules, honest engines that must live, imposters that must not.

They run in a process of their own in which one module is a mutant. A killer gives its name and what it saw.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.mutation.scope import ROOMS, SCOPE, killers_of

Kill = tuple[str, str]
"""(the kind of killer, what it saw)."""

_PARAM = type(pytest.param())


def kill(module: str, corpus: Path) -> Kill | None:
    """Who notices first that `module` is not what it was; None if nobody does."""
    for killer in (_tests, _imposters, _honest):
        if (seen := killer(module, corpus)) is not None:
            return (killer.__name__.strip("_"), seen)
    return None


def _tests(module: str, corpus: Path) -> str | None:
    """The first test that fails."""
    for file in killers_of(SCOPE[module]):
        try:
            tests = list(_calls(importlib.import_module(file)))
        except Exception as error:
            return f"{file}: {type(error).__name__}: {error}"[:200]
        for name, call in tests:
            try:
                call()
            except (Exception, pytest.fail.Exception):
                return name
    return None


def _calls(module: ModuleType) -> Iterator[tuple[str, Callable[[], None]]]:
    """The plain tests of a module, one call for each set of parameters: pytest itself would take most of the time."""
    for name, test in vars(module).items():
        if name.startswith("test_") and test.__module__ == module.__name__:
            for values in _parameters(test):
                yield name, partial(test, **values)


def _parameters(test: Any) -> Iterator[dict[str, Any]]:
    """Every combination of what the marks of a test list."""
    marks = [_listed(*mark.args) for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    for values in itertools.product(*marks):
        yield {name: value for one in values for name, value in one.items()}


def _listed(names: Any, values: Any) -> list[dict[str, Any]]:
    split = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [one.values if isinstance(one, _PARAM) else (one,) if len(split) == 1 else one for one in values]
    return [dict(zip(split, row, strict=True)) for row in rows]


def _honest(module: str, corpus: Path) -> str | None:
    """The first history in which an honest engine is accused, or is no longer what the specification says."""
    try:
        for name, number, play in _honest_trials(corpus, ROOMS[SCOPE[module]].surfaces):
            try:
                play()
            except Exception as error:
                return f"{name} {number}: {type(error).__name__}: {error}"[:200]
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    return None


def _honest_trials(path: Path, surfaces: Sequence[str]) -> Iterator[tuple[str, int, Callable[[], None]]]:
    from kvconformance.checker import Checker
    from kvconformance.surfaces.registry import kind_of
    from kvspec.violation import Tally
    from tests.mutation.corpus import HONEST, read

    for name, histories in read(path).honest.items():
        surface, engine = HONEST[name]
        if surface.value not in surfaces:
            continue
        driver = _driver(name, surface)
        kind = kind_of(surface)
        for number, history in enumerate(map(kind.read, histories)):
            checker = Checker(*kind.setting(history.world(), engine.capabilities), Tally(), kind.machine)
            yield name, number, partial(_run, driver, engine, checker, history.operations)


def _run(driver: Any, engine: Any, checker: Any, operations: Any) -> None:
    driver(engine, checker).run(operations)


def _driver(name: str, surface: Any) -> Any:
    """What drives an engine, and compares its state with the specification's where the reference has such a test."""
    from kvconformance.surfaces.registry import kind_of
    from tests.reference.test_groups import ComparedGroups
    from tests.reference.test_radix import ComparedTree
    from tests.reference.test_refines_spec import ComparedPool, ComparedStepper

    plain = {"ContiguousPool", "PublishingPool"}
    compared = {"pool": ComparedPool, "stepper": ComparedStepper, "groups": ComparedGroups, "tree": ComparedTree}
    return kind_of(surface).driver if name in plain else compared[surface.value]


def _imposters(module: str, corpus: Path) -> str | None:
    """The first imposter that lives through what killed it, or dies by another rule."""
    if not module.startswith("kvspec"):
        return None
    from kvconformance.imposters import IMPOSTERS
    from kvconformance.imposters.registry import surface_of
    from kvconformance.imposters.trial import judges
    from kvconformance.search.examples import judged_by
    from kvconformance.search.trial import play
    from kvconformance.surfaces.registry import kind_of
    from kvspec.violation import Tally
    from tests.mutation.corpus import read

    fatal = read(corpus).fatal
    for imposter in IMPOSTERS:
        if imposter.__name__ not in fatal or surface_of(imposter).value not in ROOMS[SCOPE[module]].surfaces:
            continue
        surface, (rule, written) = surface_of(imposter), fatal[imposter.__name__]
        history = kind_of(surface).read(written)
        try:
            trial = play(imposter, imposter.capabilities, surface, history, Tally(), 60.0)
        except Exception as error:
            return f"{imposter.__name__}: {type(error).__name__}: {error}"[:200]
        violation = judged_by(trial.violation, judges(imposter.broken_rule))
        if violation is None or violation.rule.id != rule:
            return f"{imposter.__name__} is not killed by {rule}"
    return None
