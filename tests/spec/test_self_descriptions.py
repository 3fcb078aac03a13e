"""What an engine says of itself: each claim that is right beside the nearest wrong one, and the rule that this breaks.

Found untested by mutation testing; written from the sentences of the registry.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from kvspec import Capabilities, Tally, judge, rules
from kvspec import events as ev
from kvspec.published import BlockRemoved, BlockStored
from kvspec.rules import Rule
from kvspec.violation import HarnessFault
from tests.spec.test_blame import counted
from tests.spec.test_transition import CACHED_A, PLAIN, RUN_A, SWAPPED, after, breaks, judged, request

pytestmark = pytest.mark.kills("law")

RESERVED = replace(PLAIN, reserved_blocks=frozenset({3}))
REFUSED = (*RUN_A, ev.Add(request("B", *(1,) * 5)), ev.Refuse("B", 3))
FAILED = (*RUN_A, ev.FailStep(0))
FORKED = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", request("B", 0, 1, 0), (0, 1)))
LEFT = (*RUN_A, ev.Abort("A"))
FREE_RULES = {
    rules.COUNT_EQUALS_HOLDERS,
    rules.CONSERVATION,
    rules.EVERY_EXIT_RELEASES,
    rules.FAILURE_IS_ATOMIC,
    rules.RESERVED_BLOCK,
}


@pytest.mark.parametrize("id", [-1, 4])
def test_only_blocks_of_the_pool_are_spoken_of(id: int) -> None:
    for claim in (
        ev.Observe(free_set=(2, 3, id)),
        ev.Observe(refs={0: 1, id: 1}),
        ev.Observe(keyed=frozenset({0, id})),
    ):
        seen = breaks(rules.NO_DANGLING_REFERENCE, *RUN_A, claim)
        assert f"block {id} is" in str(seen) and seen.expected == "ids 0 to 3" and seen.facts["block"] == id


# The number of free blocks.


@pytest.mark.parametrize(
    ("events", "capabilities", "besides"),
    [
        (RUN_A, PLAIN, set()),
        ((*RUN_A, ev.Sample("A", 1)), PLAIN, set()),
        (LEFT, PLAIN, {rules.EVERY_EXIT_RELEASES}),
        (FAILED, PLAIN, {rules.EVERY_EXIT_RELEASES}),
        (REFUSED, PLAIN, {rules.FAILURE_IS_ATOMIC}),
        (RUN_A, RESERVED, {rules.RESERVED_BLOCK}),
    ],
)
def test_a_free_count_puts_to_the_test_what_has_just_happened(
    events: tuple[ev.Event, ...], capabilities: Capabilities, besides: set[Rule]
) -> None:
    free = after(*events, capabilities=capabilities).available_in(0)
    met = counted(*events, ev.Observe(free=free), capabilities=capabilities)
    assert {rule for rule in FREE_RULES if met[rule]} == {rules.COUNT_EQUALS_HOLDERS, rules.CONSERVATION} | besides


@pytest.mark.parametrize(
    ("events", "free", "rule"),
    [
        (REFUSED, 1, rules.FAILURE_IS_ATOMIC),
        (REFUSED, 3, rules.FAILURE_IS_ATOMIC),
        (RUN_A, 3, rules.COUNT_EQUALS_HOLDERS),
        (LEFT, 5, rules.COUNT_EQUALS_HOLDERS),
        (LEFT, 3, rules.EVERY_EXIT_RELEASES),
        (FAILED, 1, rules.EVERY_EXIT_RELEASES),
        (RUN_A, 1, rules.CONSERVATION),
    ],
)
def test_a_wrong_free_count_is_blamed_on_what_has_just_happened(
    events: tuple[ev.Event, ...], free: int, rule: Rule
) -> None:
    seen = breaks(rule, *events, ev.Observe(free=free))
    held = 4 - after(*events).available_in(0)
    assert f"{free} of 4 blocks are said to be free while {held} are held" in str(seen)


@pytest.mark.parametrize(
    "event",
    [
        ev.Add(request("C", 1)),
        ev.Start("B"),
        ev.Lookup("B", 0),
        ev.Sample("A", 1),
        ev.EndStep(),
        ev.Dispatch(1),
        ev.Reset(True),
        ev.Fork("A", request("C", 0, 1, 0), (0, 1)),
        ev.Reserve("A", 3, (0, 1)),
        ev.ReleaseAgain("A"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_follows_a_refusal_is_not_blamed_on_it(event: ev.Event) -> None:
    patient = replace(PLAIN, idle_steps=9)
    breaks(rules.CONSERVATION, *REFUSED, event, ev.Observe(free=1), capabilities=patient)


def test_what_a_step_brings_when_it_completes_is_not_blamed_on_an_earlier_refusal() -> None:
    flies = (*RUN_A[:-1], ev.Dispatch(0), ev.EndStep(), ev.Add(request("B", *(1,) * 5)), ev.Refuse("B", 3))
    breaks(rules.FAILURE_IS_ATOMIC, *flies, ev.Observe(free=1))
    breaks(rules.CONSERVATION, *flies, ev.Complete(0), ev.Observe(free=1))
    breaks(rules.FAILURE_IS_ATOMIC, *flies, ev.Observe(tables={"A": (0, 1), "?": (2,)}))
    with pytest.raises(HarnessFault, match=r"\?, which was never added"):
        judge(judged(*flies, ev.Complete(0)), ev.Observe(tables={"A": (0, 1), "?": (2,)}), Tally())


C = ev.Add(request("C", 1))
ASKED = (*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Lookup("B", 2, (0,)))


@pytest.mark.parametrize(
    ("events", "free", "rule"),
    [
        ((*CACHED_A, ev.EndStep()), 3, rules.EVERY_EXIT_RELEASES),
        ((*RUN_A[:-1], ev.Dispatch(0), ev.Abort("A"), ev.EndStep()), 3, rules.CONSERVATION),
        ((*CACHED_A, C), 3, rules.CONSERVATION),
        (ASKED, 3, rules.CONSERVATION),
        ((*ASKED, ev.Abort("B")), 3, rules.CONSERVATION),
        ((*REFUSED, ev.Abort("B")), 1, rules.FAILURE_IS_ATOMIC),
        ((*RUN_A, C, *REFUSED[len(RUN_A) :], ev.Abort("C")), 1, rules.EVERY_EXIT_RELEASES),
        (
            (*RUN_A, ev.Add(request("B", 1)), ev.Add(request("C", *(1,) * 5)), ev.Refuse("C", 3), ev.Abort("B")),
            1,
            rules.EVERY_EXIT_RELEASES,
        ),
        ((*RUN_A, ev.Refuse("A", 3), ev.Abort("A")), 3, rules.EVERY_EXIT_RELEASES),
        ((*REFUSED, ev.Observe(free=2)), 1, rules.FAILURE_IS_ATOMIC),
    ],
    ids="rest flying waits looked-up looked-up-and-gone refused-and-gone later earlier grew observed".split(),
)
def test_what_has_just_happened_is_a_fold_over_events(events: tuple[ev.Event, ...], free: int, rule: Rule) -> None:
    """At rest all have given everything back; who only asked and goes gives nothing back; observing changes nothing."""
    breaks(rule, *events, ev.Observe(free=free))


RUN_C = (ev.Add(request("C", 1)), ev.Start("C"), ev.Compute("C", 0, 1, (2,)), ev.EndStep())
FORKED_C = (*RUN_C, ev.Fork("C", request("D", 1), (2,)))


@pytest.mark.parametrize(
    "taken",
    [
        (*RUN_C[:2], ev.Compute("C", 0, 1, (0,))),
        (*RUN_C[:2], ev.Reserve("C", 1, (0,))),
        (*RUN_C, ev.Fork("C", request("D", 1), (0,))),
        (*FORKED_C, ev.Copy("D", 0, 2, 0)),
        (*RUN_C, ev.SwapOut("C", 7), ev.TransferDone(7), ev.EndStep(), ev.SwapIn("C", (0,), 8), ev.TransferDone(8)),
    ],
    ids="compute reserve fork copy swap".split(),
)
def test_a_block_that_changed_hands_and_stays_in_the_index_is_told_as_such(taken: tuple[ev.Event, ...]) -> None:
    seen = breaks(rules.CONTENT_MATCHES_KEY, *CACHED_A, *taken, ev.Observe(keyed=frozenset({0})))  # type: ignore[arg-type]
    assert seen.expected == "a reassigned block leaves the index"


# Reference counts.


@pytest.mark.parametrize(
    ("events", "refs", "rule"),
    [
        (REFUSED, {0: 2, 1: 1}, rules.FAILURE_IS_ATOMIC),
        (FORKED, {0: 1, 1: 2}, rules.COUNT_EQUALS_HOLDERS),
        (FORKED, {0: 3, 1: 2}, rules.COUNT_EQUALS_HOLDERS),
        (RUN_A, {0: 1, 1: 1, 2: 1}, rules.COUNT_EQUALS_HOLDERS),
        ((*FORKED, ev.Abort("B")), {0: 2, 1: 1}, rules.COUNT_EQUALS_HOLDERS),
        ((*FORKED, ev.Abort("B")), {0: 1}, rules.COUNT_EQUALS_HOLDERS),
        (LEFT, {0: 1}, rules.EVERY_EXIT_RELEASES),
        (LEFT, {1: 1}, rules.ONE_PAGE_ROUNDING),
        ((*LEFT, ev.EndStep()), {0: 1}, rules.EVERY_EXIT_RELEASES),
    ],
)
def test_a_wrong_reference_count_is_blamed_on_what_left_it(
    events: tuple[ev.Event, ...], refs: dict[int, int], rule: Rule
) -> None:
    seen = breaks(rule, *events, ev.Observe(refs=refs))
    assert isinstance(seen.facts["block"], int)
    after(*events, ev.Observe(refs=after(*events).holders()))


def test_a_held_block_that_is_not_counted_counts_nothing() -> None:
    assert "counts 0 references" in str(breaks(rules.COUNT_EQUALS_HOLDERS, *RUN_A, ev.Observe(refs={})))


@pytest.mark.parametrize("block", [0, 1])
def test_one_reference_too_many_to_a_block_that_is_held_again(block: int) -> None:
    held = (*LEFT, ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (block,)))
    breaks(rules.COUNT_EQUALS_HOLDERS, *held, ev.Observe(refs={block: 2}))


def one_token(id: str, block: int) -> tuple[ev.Event, ...]:
    """A request of one token, which comes, computes it in a block, and goes."""
    return (ev.Add(request(id, 0)), ev.Start(id), ev.Compute(id, 0, 1, (block,)), ev.EndStep(), ev.Abort(id))


@pytest.mark.parametrize("block", [0, 1])
def test_blocks_given_back_one_by_one_are_no_ends_of_a_longer_table(block: int) -> None:
    breaks(rules.EVERY_EXIT_RELEASES, *one_token("A", 0), *one_token("B", 1), ev.Observe(refs={block: 1}))


def test_a_partly_filled_block_with_others_behind_it_is_no_end() -> None:
    ahead = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Reserve("A", 3, (0, 1)), ev.Compute("A", 0, 1, (0, 1)))
    breaks(rules.EVERY_EXIT_RELEASES, *ahead, ev.Abort("A"), ev.Observe(refs={0: 1}))


def test_counts_of_fenced_blocks_are_not_judged() -> None:
    after(*SWAPPED, ev.Observe(refs={0: 1, 1: 1}))
    breaks(rules.EVERY_EXIT_RELEASES, *SWAPPED, ev.TransferDone(7), ev.Observe(refs={0: 1}))


def test_a_reference_count_is_counted_as_put_to_the_test() -> None:
    met = counted(*RUN_A, ev.Observe(refs={0: 1, 1: 1}))
    assert met == {rules.COUNT_EQUALS_HOLDERS: 1}


@pytest.mark.parametrize(
    ("events", "block", "rule"),
    [
        # The lost block is the whole of what was given back, its full part, or full itself.
        ((ev.Add(request("A", 0)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.EndStep(), ev.Abort("A")),
         0, rules.EVERY_EXIT_RELEASES),
        ((ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep(), ev.Abort("A")),
         1, rules.EVERY_EXIT_RELEASES),
        ((ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Reserve("A", 3, (0, 1)), ev.Abort("A")),
         1, rules.EVERY_EXIT_RELEASES),
    ],
)  # fmt: skip
def test_only_the_partly_filled_end_of_a_longer_table_is_a_matter_of_rounding(
    events: tuple[ev.Event, ...], block: int, rule: Rule
) -> None:
    breaks(rule, *events, ev.Observe(refs={block: 1}))


# The free set.


@pytest.mark.parametrize(
    ("events", "free_set", "rule"),
    [
        (RUN_A, (2, 3, 3), rules.COUNT_EQUALS_HOLDERS),
        (RUN_A, (0, 2, 3), rules.NO_DANGLING_REFERENCE),
        (SWAPPED, (0, 2, 3), rules.IN_FLIGHT_FENCE),
    ],
)
def test_a_free_set_that_is_wrong(events: tuple[ev.Event, ...], free_set: tuple[int, ...], rule: Rule) -> None:
    breaks(rule, *events, ev.Observe(free_set=free_set))


def test_a_free_set_that_is_right() -> None:
    after(*RUN_A, ev.Observe(free_set=(2, 3)))
    after(*SWAPPED, ev.Observe(free_set=(2, 3)))
    after(*SWAPPED, ev.TransferDone(7), ev.Observe(free_set=(3, 2, 1, 0)))
    met = counted(*RUN_A, ev.Observe(free_set=(2, 3)))
    assert met == {rules.COUNT_EQUALS_HOLDERS: 1, rules.NO_DANGLING_REFERENCE: 1}


def test_the_reserved_block_is_in_no_free_set() -> None:
    seen = breaks(rules.RESERVED_BLOCK, *RUN_A, ev.Observe(free_set=(2, 3)), capabilities=RESERVED)
    assert seen.facts["block"] == 3
    after(*RUN_A, ev.Observe(free_set=(2,)), capabilities=RESERVED)


def test_who_holds_a_block_in_the_free_set_is_named() -> None:
    seen = breaks(rules.NO_DANGLING_REFERENCE, *FORKED, ev.Observe(free_set=(0, 2)))
    assert "block 0 is in the free set while the table of A and B names it" in str(seen)
    twice = breaks(rules.COUNT_EQUALS_HOLDERS, *RUN_A, ev.Observe(free_set=(2, 3, 3, 3)))
    assert "block 3 is in the free set 3 times" in str(twice)
    fenced = breaks(rules.IN_FLIGHT_FENCE, *SWAPPED, ev.Observe(free_set=(1,)))
    assert "while transfer 7 may still touch it" in str(fenced)


# Block tables.

FLYING = (*RUN_A[:-1], ev.Dispatch(0), ev.EndStep())


@pytest.mark.parametrize(
    ("events", "tables", "rule"),
    [
        (REFUSED, {"A": (0, 2)}, rules.FAILURE_IS_ATOMIC),
        (REFUSED, {"A": (0, 1), "B": (2,)}, rules.FAILURE_IS_ATOMIC),
        (LEFT, {"A": (0, 1)}, rules.EVERY_EXIT_RELEASES),
        (RUN_A, {"A": (0,)}, rules.NO_DANGLING_REFERENCE),
        ((*RUN_A, ev.Sample("A", 1)), {"A": (0,)}, rules.NO_DANGLING_REFERENCE),
        (RUN_A, {}, rules.NO_DANGLING_REFERENCE),
        (FLYING, {"A": (0, 2)}, rules.NO_DANGLING_REFERENCE),
        ((*FLYING, ev.Abort("A", deferred=True)), {}, rules.IN_FLIGHT_FENCE),
        ((*RUN_A, ev.Abort("A", deferred=True)), {}, rules.NO_DANGLING_REFERENCE),
    ],
)
def test_a_table_that_is_wrong(events: tuple[ev.Event, ...], tables: dict[str, tuple[int, ...]], rule: Rule) -> None:
    seen = breaks(rule, *events, ev.Observe(tables=tables))
    assert seen.facts["request"] in {"A", "B"}


def test_a_deferred_release_beside_the_step_of_somebody_else_is_a_dangling_one() -> None:
    b = (ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (2,)), ev.Dispatch(1), ev.EndStep())
    breaks(rules.NO_DANGLING_REFERENCE, *RUN_A, *b, ev.Abort("A", deferred=True), ev.Observe(tables={"B": (2,)}))


def test_tables_that_are_right() -> None:
    after(*FORKED, ev.Observe(tables={"A": (0, 1), "B": (0, 1)}))
    after(*RUN_A, ev.Add(request("B", 1)), ev.Observe(tables={"A": (0, 1)}))
    after(*LEFT, ev.Observe(tables={}))
    assert counted(*RUN_A, ev.Observe(tables={"A": (0, 1)})) == {rules.NO_DANGLING_REFERENCE: 1}


# The prefix index.


@pytest.mark.parametrize(
    ("events", "block", "rule"),
    [
        (RUN_A, 1, rules.PUBLISH_ONLY_COMPUTED),
        (RUN_A, 2, rules.PUBLISH_ONLY_COMPUTED),
        (FAILED, 0, rules.INVALIDATE),
        (
            (*CACHED_A, ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (0,))),
            0,
            rules.CONTENT_MATCHES_KEY,
        ),
    ],
)
def test_a_block_in_the_index_that_is_not_full_of_computed_tokens(
    events: tuple[ev.Event, ...], block: int, rule: Rule
) -> None:
    seen = breaks(rule, *events, ev.Observe(keyed=frozenset({block})))
    assert seen.facts["block"] == block


def test_a_fenced_block_in_the_index_hides_no_other() -> None:
    """Block 1 is half full and on its way to the host; nobody has written block 3."""
    seen = breaks(rules.PUBLISH_ONLY_COMPUTED, *SWAPPED, ev.Observe(keyed=frozenset({0, 1, 3})))  # type: ignore[arg-type]
    assert seen.facts["block"] == 3
    after(*SWAPPED, ev.Observe(keyed=frozenset({0, 1})))  # type: ignore[arg-type]


def test_a_reassigned_block_that_enters_the_index_again_is_published_too_early() -> None:
    """It had left the index when it was told last: what names it now is a new key, and no old one that stayed."""
    taken = (*CACHED_A, ev.Add(request("B", 1)), ev.Start("B"), ev.Compute("B", 0, 1, (0,)))
    left = (*taken, ev.Observe(keyed=frozenset()), ev.EndStep())
    breaks(rules.PUBLISH_ONLY_COMPUTED, *left, ev.Observe(keyed=frozenset({0})))  # type: ignore[arg-type]
    cached = ev.Observe(keyed=frozenset({0}))  # type: ignore[arg-type]
    breaks(rules.CONTENT_MATCHES_KEY, *CACHED_A, cached, *taken[len(CACHED_A) :], cached)


def test_an_index_that_is_right() -> None:
    after(*RUN_A, ev.Observe(keyed=frozenset({0})))
    after(*SWAPPED, ev.Observe(keyed=frozenset({0, 1})))
    assert counted(*RUN_A, ev.Observe(keyed=frozenset({0}))) == {rules.CONTENT_MATCHES_KEY: 1}


# What subscribers were told.

STORED = BlockStored(("key",), None, (0, 1), 2)  # type: ignore[arg-type]
REMOVED = BlockRemoved(("key",))


def test_subscribers_have_what_the_index_shows() -> None:
    after(*RUN_A, ev.Observe(keyed=frozenset({0}), published=(STORED,)))
    breaks(rules.MIRROR_EQUALS_INDEX, *RUN_A, ev.Observe(keyed=frozenset({0}), published=()))
    breaks(rules.MIRROR_EQUALS_INDEX, *RUN_A, ev.Observe(keyed=frozenset(), published=(STORED,)))


def test_where_the_index_is_not_shown_subscribers_may_lack_what_is_full_but_invent_nothing() -> None:
    after(*RUN_A, ev.Observe(published=(STORED,)))
    after(*RUN_A, ev.Observe(published=()))
    breaks(rules.MIRROR_EQUALS_INDEX, *RUN_A, ev.Observe(published=(replace(STORED, tokens=(0, 5)),)))


def test_what_a_failed_step_wrote_is_no_content() -> None:
    after(*FAILED, ev.Observe(published=()))
    breaks(rules.MIRROR_EQUALS_INDEX, *FAILED, ev.Observe(published=(STORED,)))


def test_copies_are_counted_where_that_is_declared() -> None:
    told = ev.Observe(keyed=frozenset({0}), published=(STORED, STORED, REMOVED))
    after(*RUN_A, told, capabilities=replace(PLAIN, counts_copies=True))
    breaks(rules.MIRROR_EQUALS_INDEX, *RUN_A, told)


# Queues and counters.


@pytest.mark.parametrize(
    ("waiting", "running"),
    [(("B", "B"), ("A",)), (("B",), ("A", "A")), (("A", "B"), ("A",)), (("B",), ()), ((), ("A",)), (None, ("A",))],
)
def test_a_live_request_is_in_one_queue_once(waiting: tuple[str, ...] | None, running: tuple[str, ...] | None) -> None:
    two = (*RUN_A, ev.Add(request("B", 1)))
    breaks(rules.ONE_QUEUE, *two, ev.Observe(waiting=waiting, running=running))


def test_who_is_missing_and_who_is_there_twice_is_named() -> None:
    two = (*RUN_A, ev.Add(request("B", 1)))
    missing = breaks(rules.ONE_QUEUE, *two, ev.Observe(waiting=("B",), running=()))
    assert "A is in no queue" in str(missing) and missing.facts["request"] == "A"
    both = breaks(rules.ONE_QUEUE, *two, ev.Observe(waiting=(), running=()))
    assert "A is in no queue" in str(both) and both.facts["request"] == "A"
    twice = breaks(rules.ONE_QUEUE, *two, ev.Observe(waiting=("B", "B", "B"), running=("A",)))
    assert "B stands 3 times in the queues" in str(twice) and twice.facts["request"] == "B"
    after(*two, ev.Observe(waiting=("B",), running=("A",)))
    after(*two, ev.Observe(waiting=("B", "A")))
    assert counted(*two, ev.Observe(waiting=("B", "A"))) == {rules.ONE_QUEUE: 1}


HIT = (*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (0,)))


@pytest.mark.parametrize("counters", [(1, 2), (6, 1), (6, 3), (6, 0), (-1, 2)])
def test_counters_that_are_wrong(counters: tuple[int, int]) -> None:
    breaks(rules.COUNTERS, *HIT, ev.Observe(counters=counters))


def test_negative_hits_are_no_hits() -> None:
    assert "-1 hits of 3 queried tokens" in str(breaks(rules.COUNTERS, *RUN_A, ev.Observe(counters=(3, -1))))


@pytest.mark.parametrize("counters", [(2, 2), (6, 2)])
def test_counters_that_are_right(counters: tuple[int, int]) -> None:
    after(*HIT, ev.Observe(counters=counters))
    after(*HIT, ev.Observe(counters=counters), ev.Observe(counters=counters))
    assert counted(*HIT, ev.Observe(counters=counters)) == {rules.COUNTERS: 3}


def test_the_hits_of_resumed_requests_are_counted_apart() -> None:
    back = (*HIT, ev.Preempt("B"), ev.EndStep(), ev.Start("B", 2, (0,)))
    after(*back, ev.Observe(counters=(6, 2)))
    breaks(rules.COUNTERS, *back, ev.Observe(counters=(9, 4)))


def test_queries_and_hits_each_only_grow() -> None:
    seen = breaks(rules.COUNTERS, *HIT, ev.Observe(counters=(6, 2)), ev.Observe(counters=(5, 2)))
    assert "the counters go from 2 of 6 to 2 of 5" in str(seen)
    fewer = breaks(rules.COUNTERS, *HIT, ev.Observe(counters=(6, 2)), ev.Observe(counters=(6, 1)))
    assert "the counters go from 2 of 6 to 1 of 6" in str(fewer)


def test_a_claim_that_is_not_made_is_not_judged() -> None:
    assert counted(*RUN_A, ev.Observe()) == {}


# Requests that nobody has added.

REFUSED = (*RUN_A, ev.Add(request("B", *(1,) * 5)), ev.Refuse("B", 3))
RESERVED = replace(PLAIN, reserved_blocks=frozenset({3}))


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (ev.Observe(tables={"A": (0, 1), "?": (2,)}), r"has the table \[2\]"),
        (ev.Observe(waiting=("?",), running=("A",)), "stands in a queue"),
        (ev.Observe(waiting=(), running=("A", "?")), "stands in a queue"),
    ],
)
def test_a_request_that_nobody_has_added_is_a_slip_of_the_teller(claim: ev.Observe, told: str) -> None:
    for events in (RUN_A, (*RUN_A, ev.Reset(True))):
        with pytest.raises(HarnessFault, match=r"\?, which was never added, " + told):
            judge(judged(*events), claim, Tally())


@pytest.mark.parametrize(
    "claim",
    [
        ev.Observe(tables={"A": (0, 1), "C": (2,)}),
        ev.Observe(waiting=("B", "C"), running=("A",)),
    ],
)
def test_what_a_refused_fork_leaves_behind(claim: ev.Observe) -> None:
    seen = breaks(rules.FAILURE_IS_ATOMIC, *REFUSED, claim)
    assert "C, which was never added" in str(seen) and seen.facts["request"] == "C"


def test_an_empty_table_and_padding_are_nobody() -> None:
    after(*RUN_A, ev.Observe(tables={"A": (0, 1), "?": ()}))
    after(*RUN_A, ev.Observe(tables={"A": (0, 1), "?": (3, 3)}), capabilities=RESERVED)
    with pytest.raises(HarnessFault):
        judge(judged(*RUN_A, capabilities=RESERVED), ev.Observe(tables={"A": (0, 1), "?": (3, 2)}), Tally())
