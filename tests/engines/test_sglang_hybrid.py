"""SGLang's scheduler over windows and recurrent states: nothing but what is known, and what is lost is found."""

# ruff: noqa: E402 # the stand-ins come before what SGLang imports

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("sglang")

from kvconformance.history import Add, History
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.search.trial import play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.stepper.operations import Step
from kvconformance.telling.report import Report
from kvengines.sglang import hybrid_engine
from kvspec import rules
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import Request, RequestId, Surface, TokenId, World

ENGINE = hybrid_engine()

from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
from sglang.srt.mem_cache.memory_pool import HybridReqToTokenPool
from sglang.srt.mem_cache.unified_cache.components import swa

SglangHybrid: Any = ENGINE.factories[Surface.STEPPER]
WINDOWS = tuple(text for text in SglangHybrid.capabilities.options["groups"] if "window" in text)
STATES = tuple(text for text in SglangHybrid.capabilities.options["groups"] if "state" in text)


def checked(groups: tuple[str, ...], examples: int = 150, **options: tuple[object, ...]) -> Report:
    """A short check in these layouts, with no request that is known to wait for ever."""
    told = {**SglangHybrid.capabilities.options, "swa_full_tokens_ratio": (1.0,)}
    declared = replace(SglangHybrid.capabilities, options={**told, "groups": groups, **options})
    stepper = type("Told", (SglangHybrid,), {"capabilities": declared})
    return check_here(
        Engine("sglang-hybrid", "0", {Surface.STEPPER: stepper}),
        Plan(examples=examples, seconds=300.0, shrink_seconds=1.0),
    )


@pytest.mark.parametrize("groups", [WINDOWS, STATES], ids=["windows", "states"])
def test_a_short_check_finds_nothing_under_retraction(groups: tuple[str, ...]) -> None:
    report = checked(groups, test_retract=(True,))
    report.raise_if_broken()
    reached = {line.rule: line.exercised for line in report.rules}
    assert reached[rules.RESUME_EQUALS_UNINTERRUPTED] > 50
    assert groups is STATES or reached[rules.EVERY_GROUP_HIT] > 50


def broken(history: History) -> list[Rule]:
    trial = play(SglangHybrid, SglangHybrid.capabilities, Surface.STEPPER, history, Tally())
    return [trial.violation.rule] if trial.violation else []


def resumed(more: int, *, caching: bool = True) -> History:
    """A request begins with what another has left in the tree, and goes on for so many tokens."""
    options = {"groups": "full:1 window:1:3", "pool": "own", "swa_full_tokens_ratio": 0.8}
    operations = (Add((1,), 1), Step(), Add((1, *(0,) * more), 1), Step())
    return History(8, 2, operations, token_budget=10, caching=caching, options=options)


def test_who_hits_a_window_waits_for_ever_where_a_little_less_or_no_hit_would_run() -> None:
    assert broken(resumed(3)) == [rules.PROGRESS_OR_REJECT]
    assert broken(resumed(2)) == []
    assert broken(resumed(3, caching=False)) == []


def test_what_was_given_back_stands_in_no_table() -> None:
    options = {"groups": "full:2 window:2:3", "pool": "own"}
    engine = SglangHybrid(World(12, 2, token_budget=8, max_running=2, caching=False, options=options))
    engine.add(Request(RequestId("A"), tuple(TokenId(0) for _ in range(7)), 4))
    for _ in range(3):
        (scheduled,) = engine.plan().scheduled
        engine.complete(None, {RequestId("A"): TokenId(0)})
    assert None not in scheduled.table
    assert [id is not None for id in scheduled.more[0]] == [False, False, False, True, True]
    assert engine.free_blocks() == (11 - 5, 11 - 2)


RIGHT = swa.free_swa_out_of_window_slots


def a_page_early(req: Any, pre_len: int, **options: Any) -> None:
    RIGHT(req, pre_len + options["page_size"], **options)


def forgets_the_pair(self: Any, pages: Any, start_pos: int) -> None:
    self.clear_full_to_swa_mapping(pages)


def takes_any_node(self: Any, match_device_only: bool = False) -> Any:
    return lambda node: True


def keeps_the_state(self: Any, req: Any, mamba_ping_pong_track_buffer_to_keep: int | None = None) -> None:
    req.kv.mamba_pool_idx = None


@pytest.mark.parametrize(
    ("where", "name", "fault", "groups", "rule"),
    [
        (swa, "free_swa_out_of_window_slots", a_page_early, WINDOWS, rules.EVERY_GROUP_HIT),
        (SWATokenToKVPoolAllocator, "_free_swa_pages", forgets_the_pair, WINDOWS, rules.CONSERVATION),
        (swa.SWAComponent, "create_match_validator", takes_any_node, WINDOWS, rules.EVERY_GROUP_HIT),
        (HybridReqToTokenPool, "free_mamba_cache", keeps_the_state, STATES, rules.CONSERVATION),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_fault_in_the_second_group_is_found(
    where: Any, name: str, fault: Any, groups: tuple[str, ...], rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, fault)
    assert rule.id in {finding.rule_id for finding in checked(groups, examples=80).findings}
