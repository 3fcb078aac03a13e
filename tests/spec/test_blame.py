"""Which rule a wrong hit breaks, and how often a hit puts each rule to the test: what mutation testing found untested.

Written from the sentences of the registry (`kvspec rules`): blame decides what a finding is called, and a rule that no
hit has put to the test must not be reported as held.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from kvspec import Tally, World, begin, judge, rules
from kvspec import events as ev
from kvspec.rules import Rule
from kvspec.vocabulary import Capabilities, Media
from tests.spec.test_transition import CACHED_A, PLAIN, RUN_A, SWAPPED, WORLD, after, breaks, request

pytestmark = pytest.mark.kills("law")

BIG = replace(WORLD, num_blocks=8, token_budget=12)


def counted(
    *events: ev.Event, last: int = 1, world: World = WORLD, capabilities: Capabilities = PLAIN
) -> Counter[Rule]:
    """How often the last events have put each rule to the test."""
    state = begin(world, capabilities)
    for event in events[:-last]:
        judge(state, event, Tally())
    tally = Tally()
    for event in events[-last:]:
        judge(state, event, tally)
    return tally.exercised


def b(*prompt: int, **parts: object) -> tuple[ev.Event, ...]:
    """B comes with a prompt and is started on A's first block, or what took its place."""
    return (ev.Add(request("B", *prompt, **parts)), ev.Start("B", 2, (0,)))


# A hit is whole.


@pytest.mark.parametrize(("hit", "blocks"), [(2, ()), (2, (0, 0)), (4, (0,)), (3, (0,)), (-2, ())])
def test_a_hit_has_one_block_for_each_block_size_of_its_tokens(hit: int, blocks: tuple[int, ...]) -> None:
    come = ev.Add(request("B", 0, 1, 0, 1, 1, 1))
    breaks(rules.CONTIGUOUS_CHAIN, *CACHED_A, come, ev.Start("B", hit, blocks))


def test_as_many_blocks_as_tokens_leave_no_token() -> None:
    """A hit that says 2 tokens and names two blocks: of four tokens none is left, of five one is."""
    for rule, prompt in ((rules.ONE_TOKEN_LEFT, (0, 1, 0, 1)), (rules.CONTIGUOUS_CHAIN, (0, 1, 0, 1, 1))):
        breaks(rule, *CACHED_A, ev.Add(request("B", *prompt)), ev.Start("B", 2, (0, 0)))


def test_only_the_longest_possible_hit_shows_that_one_token_is_left() -> None:
    assert counted(*CACHED_A, *b(0, 1, 1))[rules.ONE_TOKEN_LEFT] == 1
    assert counted(*CACHED_A, *b(0, 1, 1, 1))[rules.ONE_TOKEN_LEFT] == 1
    assert counted(*CACHED_A, *b(0, 1, 1, 1, 1))[rules.ONE_TOKEN_LEFT] == 0


def test_a_miss_says_nothing_about_what_a_hit_must_be() -> None:
    missed = counted(*CACHED_A, ev.Add(request("B", 0, 1, 1)), ev.Start("B"))
    of_hits = (rules.ONE_TOKEN_LEFT, rules.CONTIGUOUS_CHAIN, rules.CONTENT_MATCHES_KEY, rules.PUBLISH_ONLY_COMPUTED)
    assert [missed[rule] for rule in of_hits] == [0, 0, 0, 0]


# What a hit puts to the test.


def test_a_hit_of_one_block_says_nothing_about_the_prefix_before_it() -> None:
    assert counted(*CACHED_A, *b(0, 1, 1))[rules.COMPLETE_KEY] == 0
    long = (ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep())
    hit = (ev.Add(request("B", 0, 1, 0, 1, 1)), ev.Start("B", 4, (0, 1)))
    assert counted(*long, *hit)[rules.COMPLETE_KEY] == 1
    assert counted(*long, *hit)[rules.CONTENT_MATCHES_KEY] == 2


def test_only_a_hit_after_a_lookup_or_a_reset_says_something_about_them() -> None:
    plain = counted(*CACHED_A, *b(0, 1, 1))
    assert (plain[rules.FRESH_HIT], plain[rules.INVALIDATE]) == (0, 0)
    looked = (ev.Add(request("B", 0, 1, 1)), ev.Lookup("B", 2, (0,)), ev.Start("B", 2, (0,)))
    assert counted(*CACHED_A, *looked)[rules.FRESH_HIT] == 1
    again = (
        ev.Reset(True),
        ev.Add(request("A1", 0, 1, 0)),
        ev.Start("A1"),
        ev.Compute("A1", 0, 3, (0, 1)),
        ev.EndStep(),
    )
    assert counted(*CACHED_A, *again, *b(0, 1, 1))[rules.INVALIDATE] == 1


@pytest.mark.parametrize(
    ("parts", "met"),
    [
        ({}, set()),
        ({"salt": "x"}, {rules.ISOLATION}),
        ({"adapter": "x"}, {rules.COMPLETE_KEY}),
        ({"media": (Media("aaaa1", 0),)}, {rules.COMPLETE_KEY}),
        ({"weights": 1}, {rules.INVALIDATE}),
        ({"adapter_version": 1}, {rules.INVALIDATE}),
        ({"adapter_version": -1}, {rules.INVALIDATE}),
        ({"salt": "x", "weights": 1}, {rules.ISOLATION, rules.INVALIDATE}),
    ],
)
def test_a_miss_beside_the_same_tokens_puts_the_rule_of_the_other_part_to_the_test(
    parts: dict[str, object], met: set[Rule]
) -> None:
    of_keys = {rules.ISOLATION, rules.COMPLETE_KEY, rules.INVALIDATE, rules.KEY_DOMAINS}
    missed = (*CACHED_A, ev.Add(request("B", 0, 1, 1, **parts)), ev.Start("B"))
    assert {rule for rule in of_keys if counted(*missed)[rule]} == met
    off = replace(WORLD, caching=False)
    assert {rule for rule in of_keys if counted(*missed, world=off)[rule]} == set()


def test_a_hit_where_caching_is_off_is_judged_and_counted_too() -> None:
    off = replace(WORLD, caching=False)
    other = (*CACHED_A, ev.Add(request("C", 0, 1, 1, salt="x")), *b(0, 1, 1))
    assert counted(*other, world=off)[rules.ISOLATION] == 1
    assert counted(*other[:-1], ev.Start("B"), world=off)[rules.ISOLATION] == 0


@pytest.mark.parametrize(
    ("first", "second", "times"),
    [
        ({"salt": "x"}, {"adapter": "x"}, 1),
        ({"adapter": "x"}, {"salt": "x"}, 1),
        ({"salt": "xy"}, {"salt": "x", "adapter": "y"}, 1),
        ({"salt": "x"}, {"salt": "y"}, 0),
        ({"salt": "x"}, {}, 0),
        ({"weights": 1}, {}, 0),
        ({"salt": "x", "media": (Media("aaaa1", 0),)}, {"adapter": "x"}, 0),
    ],
)
def test_parts_that_imitate_each_other_put_their_domains_to_the_test(
    first: dict[str, object], second: dict[str, object], times: int
) -> None:
    run = (ev.Add(request("A", 0, 1, 0, **first)), *RUN_A[1:], ev.Add(request("B", 0, 1, 1, **second)), ev.Start("B"))
    assert counted(*run)[rules.KEY_DOMAINS] == times


def test_tokens_that_are_equal_in_eight_bits_put_their_width_to_the_test() -> None:
    assert counted(*CACHED_A, ev.Add(request("B", 256, 1, 1)), ev.Start("B"))[rules.KEY_DOMAINS] == 1
    wide = (ev.Add(request("A", 256, 1, 0)), *RUN_A[1:])
    assert counted(*wide, ev.Add(request("B", 0, 1, 1)), ev.Start("B"))[rules.KEY_DOMAINS] == 1
    for near in (1, 128):
        assert counted(*CACHED_A, ev.Add(request("B", near, 1, 1)), ev.Start("B"))[rules.KEY_DOMAINS] == 0


def test_every_request_with_the_same_tokens_is_counted() -> None:
    others = [ev.Add(request(f"R{n}", 0, 1, 1, salt=str(n))) for n in range(12)]
    wide = [ev.Add(request(f"W{n}", 256 * n, 1, 1)) for n in range(1, 13)]
    same = (ev.Add(request("B", 0, 1, 1)), ev.Start("B"))
    assert counted(*CACHED_A, *others, *same)[rules.ISOLATION] == 12
    assert counted(*CACHED_A, *wide, *same)[rules.KEY_DOMAINS] == 12


# Whom a wrong hit blames.


@pytest.mark.parametrize(
    ("token", "rule"),
    [
        (1 << 7, rules.CONTENT_MATCHES_KEY),
        (1 << 8, rules.KEY_DOMAINS),
        (1 << 15, rules.KEY_DOMAINS),
        (1 << 16, rules.KEY_DOMAINS),
        (1 << 17, rules.KEY_DOMAINS),
    ],
)
def test_tokens_cut_to_eight_or_sixteen_bits_are_blamed_on_the_width(token: int, rule: Rule) -> None:
    # Somebody else has the same tokens, so that a stale key would explain the hit as well.
    breaks(rule, *CACHED_A, ev.Add(request("C", token, 1)), *b(token, 1, 1))


@pytest.mark.parametrize(
    ("digest", "rule"),
    [("aaaa2", rules.KEY_DOMAINS), ("aaab1", rules.COMPLETE_KEY), ("aaaA1", rules.COMPLETE_KEY)],
)
def test_images_whose_names_begin_alike_are_blamed_on_a_name_cut_short(digest: str, rule: Rule) -> None:
    first = (ev.Add(request("A", 0, 1, 0, media=(Media("aaaa1", 0),))), *RUN_A[1:])
    breaks(rule, *first, *b(0, 1, 1, media=(Media(digest, 0),)))


def test_a_block_of_another_place_in_the_chain_is_a_stale_or_misplaced_one() -> None:
    long = (ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep())
    breaks(rules.CONTENT_MATCHES_KEY, *long, ev.Add(request("B", 7, 5, 1)), ev.Start("B", 2, (1,)))
    c = (ev.Add(request("C", 1, 0)), ev.Start("C"), ev.Compute("C", 0, 2, (2,)), ev.EndStep())
    breaks(rules.CONTENT_MATCHES_KEY, *long, *c, ev.Add(request("B", 0, 1, 7, 5, 1)), ev.Start("B", 4, (0, 2)))


@pytest.mark.parametrize(
    ("block", "rule"), [((0, 5), rules.CONTIGUOUS_CHAIN), ((7, 5), rules.KEY_DOMAINS), ((7, 1), rules.KEY_DOMAINS)]
)
def test_a_search_that_goes_past_a_partial_match_is_told_from_a_collision(block: tuple[int, int], rule: Rule) -> None:
    long = (ev.Add(request("A", 0, 1, 0, 1)), ev.Start("A"), ev.Compute("A", 0, 4, (0, 1)), ev.EndStep())
    breaks(rule, *long, ev.Add(request("B", 0, 1, *block, 1)), ev.Start("B", 4, (0, 1)))


def test_what_a_wrong_block_holds_is_told_with_whose_it_is() -> None:
    seen = breaks(rules.COMPLETE_KEY, *CACHED_A, *b(0, 1, 1, adapter="x"))
    assert "B hits block 0, which holds (0 1) of A; expected the keys and values of its own tokens" in str(seen)
    image = (ev.Add(request("A", 0, 1, 0, media=(Media("aaaa1", 1),))), *RUN_A[1:])
    assert "which holds (0 1/aaaa1) of A" in str(breaks(rules.COMPLETE_KEY, *image, *b(0, 1, 1)))


TAKEN = (ev.Add(request("C", 1, 1)), ev.Start("C"), ev.Compute("C", 0, 2, (0,)))
"""C takes A's cached block in this step."""


def test_a_hit_found_while_the_request_waited_is_stale() -> None:
    come = ev.Add(request("B", 0, 1, 1))
    breaks(rules.FRESH_HIT, *CACHED_A, come, *TAKEN, ev.EndStep(), ev.Start("B", 2, (0,)))
    seen = breaks(
        rules.FRESH_HIT,
        *CACHED_A,
        ev.EndStep(),
        come,
        ev.EndStep(),
        *TAKEN,
        ev.EndStep(),
        ev.Start("B", 2, (0,)),
        capabilities=replace(PLAIN, idle_steps=9),
    )
    assert "changed hands while B waited" in str(seen)


def test_a_hit_on_a_block_that_changed_hands_before_the_request_came_is_no_stale_one() -> None:
    breaks(rules.CONTENT_MATCHES_KEY, *CACHED_A, *TAKEN, ev.EndStep(), *b(0, 1, 1))


def test_a_hit_on_a_block_that_changed_hands_in_the_step_of_the_request_is_no_stale_one() -> None:
    come = ev.Add(request("B", 0, 1, 1))
    breaks(rules.CONTENT_MATCHES_KEY, *CACHED_A, come, *TAKEN, ev.Start("B", 2, (0,)))


def test_a_block_half_full_of_other_tokens_is_no_matter_of_being_early() -> None:
    half = (ev.Add(request("A", 0, 1, 0)), ev.Start("A"), ev.Compute("A", 0, 1, (0,)), ev.EndStep())
    seen = breaks(rules.PUBLISH_ONLY_COMPUTED, *half, *b(0, 1, 1))
    assert "of which only 1 of 2 tokens are computed" in str(seen)
    breaks(rules.CONTENT_MATCHES_KEY, *half, *b(1, 1, 1))
    other = (ev.Add(request("C", 1, 1, 1)), *half)
    breaks(rules.CONTENT_MATCHES_KEY, *other, ev.Add(request("B", 1, 1, 1)), ev.Start("B", 2, (0,)))


def test_a_block_that_holds_nothing_is_told_as_such() -> None:
    seen = breaks(rules.PUBLISH_ONLY_COMPUTED, ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (3,)))
    assert "in which nothing is computed" in str(seen)
    assert (seen.facts["request"], seen.facts["block"], seen.facts["index"]) == ("B", 3, 0)


# What is right and may not be used yet.


def test_a_hit_on_a_block_that_a_transfer_still_brings() -> None:
    coming = (*SWAPPED, ev.TransferDone(7), ev.EndStep(), ev.SwapIn("A", (2, 3), 8), ev.EndStep())
    hit = (ev.Add(request("B", 0, 1, 1)), ev.Start("B", 2, (2,)))
    seen = breaks(rules.IN_FLIGHT_FENCE, *coming, *hit)
    assert "which transfer 8 still brings" in str(seen)
    after(*coming, ev.TransferDone(8), *hit)


def test_a_hit_on_a_block_that_a_transfer_only_reads() -> None:
    fork = (*RUN_A, ev.Sample("A", 1), ev.Fork("A", request("C", 0, 1, 0), (0, 1)), ev.SwapOut("A", 7))
    after(*fork, *b(0, 1, 1))


def test_a_hit_on_a_step_that_is_still_in_flight_must_be_declared() -> None:
    flying = (*RUN_A[:-1], ev.Dispatch(0), ev.EndStep(), *b(0, 1, 1))
    breaks(rules.PUBLISH_ONLY_COMPUTED, *flying)
    for publishes in ("scheduled", "anything"):
        after(*flying, capabilities=replace(PLAIN, publishes=publishes))
