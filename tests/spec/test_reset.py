"""A reset of the prefix cache that the engine refuses: nothing is forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import events as ev
from kvspec import rules
from tests.spec.test_blame import counted
from tests.spec.test_transition import PLAIN, RUN_A, after, breaks

pytestmark = pytest.mark.kills("law")

IDLE = replace(PLAIN, idle_steps=9)
SHOWN = ev.Observe(keyed=frozenset({0}))
EMPTY = ev.Observe(keyed=frozenset())


def test_a_refused_reset_forgets_nothing() -> None:
    after(*RUN_A, SHOWN, ev.Reset(False), SHOWN)
    seen = breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, SHOWN, ev.Reset(False), EMPTY)
    assert "forgets block 0" in str(seen)


def test_an_engine_may_evict_in_the_background_of_a_step() -> None:
    after(*RUN_A, SHOWN, ev.EndStep(), ev.Reset(False), EMPTY, capabilities=IDLE)
    after(*RUN_A, SHOWN, ev.Reset(False), ev.EndStep(), EMPTY, capabilities=IDLE)
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.EndStep(), SHOWN, ev.Reset(False), EMPTY, capabilities=IDLE)


def test_a_refused_reset_is_a_refusal() -> None:
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.Reset(False), ev.Observe(free=4))
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.Reset(False), ev.Observe(refs={0: 1}))
    breaks(rules.FAILURE_IS_ATOMIC, *RUN_A, ev.Reset(False), ev.Observe(tables={}))
    breaks(rules.COUNT_EQUALS_HOLDERS, *RUN_A, ev.Reset(True), ev.Observe(free=4))


def test_a_reset_that_is_refused_before_anything_was_shown_binds_to_nothing() -> None:
    after(ev.Reset(False), EMPTY)


def test_the_first_block_that_a_refused_reset_forgot_is_named() -> None:
    both = (*RUN_A, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 1)), ev.Observe(keyed=frozenset({0, 1})))
    assert breaks(rules.FAILURE_IS_ATOMIC, *both, ev.Reset(False), EMPTY).facts["forgotten"] == 0


def test_the_index_may_shrink_otherwise() -> None:
    after(*RUN_A, SHOWN, ev.Reset(True), EMPTY)
    after(*RUN_A, SHOWN, EMPTY)
    after(*RUN_A, ev.Reset(False), EMPTY)
    after(*RUN_A, SHOWN, ev.Reset(False), SHOWN, EMPTY)
    after(*RUN_A, SHOWN, ev.Reset(False), ev.Observe(free=2), ev.Abort("A"), EMPTY)
    after(*RUN_A, SHOWN, ev.Sample("A", 1), ev.Reset(False), EMPTY)
    after(*RUN_A, EMPTY, ev.Reset(False), SHOWN)
    after(*RUN_A, SHOWN, ev.Reset(True), ev.Reset(False), EMPTY)


def test_a_refused_reset_is_counted_where_the_index_is_shown_before_and_after() -> None:
    met = counted(*RUN_A, SHOWN, ev.Reset(False), SHOWN)
    assert met[rules.FAILURE_IS_ATOMIC] == 1
    assert counted(*RUN_A, ev.Reset(False), SHOWN)[rules.FAILURE_IS_ATOMIC] == 0
