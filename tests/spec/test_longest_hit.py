"""Profile longest-hit: which shorter hits are right because the blocks of a longer one may not be used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import events as ev
from kvspec import rules
from kvspec.hits import longest_hit
from tests.spec.grouped import A, B, admit, broken, having, ids, play, ran, world
from tests.spec.grouped import request as asks
from tests.spec.test_transition import CACHED_A, PLAIN, SWAPPED, after, breaks, request

pytestmark = pytest.mark.kills("law")

LONGEST = replace(PLAIN, profiles=frozenset({"longest-hit"}))
COLD = (ev.Add(request("B", 0, 1, 1)), ev.Start("B"))


def test_what_is_cached_must_be_hit() -> None:
    breaks(rules.LONGEST_GROUP_HIT, *CACHED_A, *COLD, capabilities=LONGEST)
    after(*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)), capabilities=LONGEST)
    after(*CACHED_A, *COLD)


def test_what_a_reset_forgot_need_not_be_hit() -> None:
    after(*CACHED_A, ev.Reset(True), *COLD, capabilities=LONGEST)
    breaks(rules.LONGEST_GROUP_HIT, *CACHED_A, ev.Reset(False), *COLD, capabilities=LONGEST)


def test_what_another_tenant_wrote_need_not_be_hit() -> None:
    salted = (ev.Add(request("B", 0, 1, 1, salt="x")), ev.Start("B"))
    after(*CACHED_A, *salted, capabilities=LONGEST)


def test_what_a_transfer_still_brings_need_not_be_hit() -> None:
    back = (*SWAPPED, ev.TransferDone(7), ev.EndStep(), ev.SwapIn("A", (2, 3), 8))
    gone = (ev.Add(request("C", 1, 1, 1)), ev.Start("C"), ev.Compute("C", 0, 3, (0, 1)), ev.EndStep(), ev.Abort("C"))
    over = (*SWAPPED, ev.TransferDone(7), *gone, ev.SwapIn("A", (2, 3), 8))
    after(*over, *COLD, capabilities=LONGEST)
    breaks(rules.LONGEST_GROUP_HIT, *over, ev.TransferDone(8), *COLD, capabilities=LONGEST)
    breaks(rules.LONGEST_GROUP_HIT, *back, *COLD, capabilities=LONGEST)  # A's old blocks still have it


def test_a_block_of_another_group_is_none_of_this_one() -> None:
    """Both groups hold what the other may lack: the ids of contexts are the same in every group."""
    for lost, kept in ((1, 3), (3, 1)):
        cache = ran(world("full:2 window:2:9"), asks(A, 0, 0, 1), (1, 2), (3, 4))
        cache = play(cache, admit(asks(B, 0, 0, 0), 0, 3, ids((5, 6), (7, 8))))
        live = cache.state.requests[B]
        assert longest_hit(cache.state, live) == 2
        cache.state.blocks[lost].hand_over(cache.state.blocks[lost].owner, 2)
        assert cache.state.blocks[kept].contexts == live.contexts[:2] and longest_hit(cache.state, live) == 0


def test_in_several_groups_too() -> None:
    cache = having(ran(world("full:2 window:2:9"), asks(A, 0, 0, 1), (1, 2), (3, 4)), profiles=LONGEST.profiles)
    assert broken(cache, admit(asks(B, 0, 0, 0), 0, 3, ids((5, 6), (7, 8)))) is rules.LONGEST_GROUP_HIT
