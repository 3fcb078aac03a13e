"""Counting the rules that only blame names: each is put to the test where the law's guard would be called by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kvspec import events as ev
from kvspec import rules
from kvspec.blame.keys import imitates
from kvspec.blame.past import Past, first_block, narrow
from kvspec.state import Live, State
from kvspec.violation import Tally


def _hit(state: State, past: Past, event: ev.Start | ev.Lookup, tally: Tally) -> None:
    """Another request has the same, or nearly the same, first block of tokens; or the hit was looked up before."""
    live = state.requests.get(event.request)
    if live is None:
        return
    if event.hit or state.world.caching:
        _count_variants(state, past, live, tally)
    if past.looked_up.get(event.request):
        tally.met(*[rules.FRESH_HIT] * len(event.blocks))


def _count_variants(state: State, past: Past, live: Live, tally: Tally) -> None:
    ours, first = live.request.parts, first_block(state, live)
    for tokens, parts in past.prompts.get(narrow(first), ()):
        if tokens != first:
            tally.met(rules.KEY_DOMAINS)
            continue
        if parts == ours:
            continue
        if parts.salt != ours.salt:
            tally.met(rules.ISOLATION)
        if parts.adapter == ours.adapter and parts.computes != ours.computes:
            tally.met(rules.INVALIDATE)
        elif parts.computes != ours.computes or parts.media != ours.media:
            tally.met(rules.COMPLETE_KEY)
        if imitates(parts, ours):
            tally.met(rules.KEY_DOMAINS)


def _in_parts(state: State, past: Past, event: ev.Compute | ev.Waste | ev.Sample | ev.Finish, tally: Tally) -> None:
    """A request goes on in parts, after a preemption or without one: each guard of `reads.in_parts` once."""
    live = state.requests.get(event.request)
    if live is None:
        return
    rule = rules.RESUME_EQUALS_UNINTERRUPTED if live.resumed else rules.CHUNK_INDEPENDENCE
    tally.exercised[rule] += _GUARDS[type(event)]
    if live.hit and isinstance(event, ev.Compute):
        tally.met(rules.FRESH_HIT)


_GUARDS: Mapping[type, int] = MappingProxyType({ev.Compute: 3, ev.Waste: 1, ev.Sample: 2, ev.Finish: 1})
"""The guards of each event that a request meets which goes on in parts."""


def _observed(state: State, past: Past, event: ev.Observe, tally: Tally) -> None:
    """Free blocks are counted after a refusal, or after somebody has left."""
    if event.free is None:
        return
    if past.refused:
        tally.met(rules.FAILURE_IS_ATOMIC)
    elif past.ended(state):
        tally.met(rules.EVERY_EXIT_RELEASES)


COUNTED: Mapping[type, Callable[[State, Past, Any, Tally], None]] = MappingProxyType(
    {
        ev.Start: _hit,
        ev.Lookup: _hit,
        ev.Compute: _in_parts,
        ev.Waste: _in_parts,
        ev.Sample: _in_parts,
        ev.Finish: _in_parts,
        ev.Observe: _observed,
    }
)
"""By event, what counts the rules that it puts to the test, before it happens."""
