"""Swaps: what comes back from the host, whom a failed step concerns there, and that a swap is declared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvexamine.explorer.paged.scopes import SCOPES
from kvspec import events as ev
from kvspec import rules, step
from kvspec.violation import HarnessFault
from tests.spec.test_transition import PLAIN, RUN_A, SWAPPED, WORLD, after, breaks, request

pytestmark = pytest.mark.kills("law")

FAILED_OUT = (*RUN_A, ev.FailStep(0), ev.SwapOut("A", 7), ev.TransferDone(7), ev.EndStep())
OUT_FAILED = (*SWAPPED, ev.FailStep(0), ev.TransferDone(7), ev.EndStep())
BACK = (ev.SwapIn("A", (2, 3), 8), ev.TransferDone(8))


@pytest.mark.parametrize("out", [FAILED_OUT, OUT_FAILED], ids=["fails on the device", "fails once it is on the host"])
def test_garbage_comes_back_from_the_host_as_garbage(out: tuple[ev.Event, ...]) -> None:
    state = after(*out, *BACK)
    assert [(state.blocks[id].failed, state.blocks[id].key) for id in (2, 3)] == [(True, None)] * 2
    breaks(rules.INVALIDATE, *out, *BACK, ev.Observe(keyed=frozenset({2})))
    breaks(rules.INVALIDATE, *out, *BACK, ev.Copy("A", 0, 2, 0))
    breaks(rules.INVALIDATE, *out, *BACK, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (2,)))


def test_what_another_step_wrote_comes_back_whole() -> None:
    grown = (*RUN_A, ev.Sample("A", 1), ev.Compute("A", 3, 1, (0, 1)), ev.EndStep())
    for events in (
        (*grown, ev.FailStep(1), ev.SwapOut("A", 7), ev.TransferDone(7), ev.EndStep()),
        (*grown, ev.SwapOut("A", 7), ev.FailStep(1), ev.TransferDone(7), ev.EndStep()),
    ):
        state = after(*events, *BACK)
        assert [state.blocks[id].failed for id in (2, 3)] == [False, True]
        assert state.blocks[2].key is not None
        after(*events, *BACK, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (2,)))
    first = after(*grown, ev.SwapOut("A", 7), ev.FailStep(0), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [[c is not None for c in first.blocks[id].contexts] for id in (2, 3)] == [[False, False], [False, True]]
    both = after(*grown, ev.SwapOut("A", 7), ev.FailStep(0), ev.FailStep(1), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [both.blocks[id].failed for id in (2, 3)] == [True, True]
    later = after(*grown, ev.FailStep(1), ev.SwapOut("A", 7), ev.FailStep(9), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [c is not None for c in later.blocks[3].contexts] == [True, False]
    sound = (*SWAPPED, ev.FailStep(5), ev.TransferDone(7), ev.EndStep(), *BACK)
    assert [block.failed for block in after(*sound).blocks] == [False] * 4


def test_who_begins_anew_instead_has_nothing_on_the_host() -> None:
    anew = (*OUT_FAILED, ev.Start("A"), ev.Compute("A", 0, 4, (2, 3)), ev.EndStep())
    assert [after(*anew).blocks[id].failed for id in (2, 3)] == [False, False]


def test_no_scope_of_the_explorer_needs_to_know_who_wrote_what_is_on_the_host() -> None:
    """It drops `swapped_by` and `garbage` from its keys, which only a failure reads and writes."""
    assert not [name for name, scope in SCOPES.items() if scope.has("swap") and scope.has("fail")]


def test_a_swap_is_declared_or_asked_for() -> None:
    recompute = replace(PLAIN, preemptions=("recompute",))
    with pytest.raises(HarnessFault, match="A is swapped out, and no preemption by swap"):
        step(after(*RUN_A, capabilities=recompute), ev.SwapOut("A", 7))
    after(*RUN_A, ev.SwapOut("A", 7), capabilities=replace(PLAIN, preemptions=("swap",)))
    after(*RUN_A, ev.SwapOut("A", 7), world=replace(WORLD, preemption="swap"), capabilities=recompute)
