"""Mutants are made of whatever guards a rule, and files of tests say themselves which they kill."""

from __future__ import annotations

import re

from tests.mutation.mutants import path_of
from tests.mutation.scope import ROOMS, SCOPE, TESTS, killers_of, marks


def test_every_room_has_tests_and_every_mark_is_a_room() -> None:
    assert all(killers_of(room) for room in ROOMS)
    assert {room for path in TESTS.glob("*/test_*.py") for room in marks(path)} == set(ROOMS)


def test_every_module_of_the_law_that_fails_a_guard_is_mutated() -> None:
    law = path_of("kvspec.state").parent
    guarding = {
        path for path in law.rglob("*.py") if re.search(r"tally\.(fail|require|broken)\(", path.read_text("utf-8"))
    }
    assert guarding - {path_of(module) for module in SCOPE} == set() and len(guarding) > 10
