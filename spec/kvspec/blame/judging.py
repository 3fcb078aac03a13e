"""The transition with blame: the event happens, and what it breaks is named by what went before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from kvspec import events as ev
from kvspec import rules
from kvspec.blame import claims, exercised, hits, reads
from kvspec.blame.case import Case
from kvspec.blame.past import Past
from kvspec.blame.words import words
from kvspec.rules import Rule
from kvspec.state import State, initial
from kvspec.transition import advance
from kvspec.violation import Broken, Tally, Violation
from kvspec.vocabulary import Freedoms, World


@dataclass(slots=True)
class Judged:
    """A state and what went before it."""

    state: State
    past: Past = field(default_factory=Past)

    def copy(self) -> Judged:
        """An independent copy."""
        return Judged(self.state.copy(), self.past.copy())


def begin(world: World, capabilities: Freedoms) -> Judged:
    """All requests still to come, and nothing before."""
    return Judged(initial(world, capabilities))


def judge(judged: Judged, event: ev.Event, tally: Tally) -> None:
    """Apply `event` in place. Raises `Violation`, by the rule that explains it, where it is not allowed."""
    state, past = judged.state, judged.past
    if (counted := exercised.COUNTED.get(type(event))) is not None:
        counted(state, past, event, tally)
    past.before(state, event)
    tally.blame = partial(finding, state, past, event)
    try:
        advance(state, event, tally)
    finally:
        tally.blame = None
    past.follow(state, event)


def finding(state: State, past: Past, event: ev.Event, broken: Broken) -> Violation:
    """What a guard says, under the rule that explains it. Raises `HarnessFault` where the event cannot be."""
    case = Case(state, past, event, broken)
    renamed = _RENAMED.get((broken.rule, broken.how))
    rule = renamed(case) if renamed else broken.rule
    seen, expected = words(case, rule)
    return Violation(rule, seen, expected, **broken.facts)


_RENAMED: Mapping[tuple[Rule, str], Callable[[Case], Rule]] = MappingProxyType(
    {
        (rules.CONTENT_MATCHES_KEY, "hit"): hits.wrong_content,
        (rules.CONTIGUOUS_CHAIN, "whole"): hits.not_whole,
        (rules.SHARED_BYTES_NEVER_CHANGE, "read"): reads.wrong_slot,
        (rules.CHUNK_INDEPENDENCE, "past"): reads.past_the_end,
        (rules.CHUNK_INDEPENDENCE, "continues"): reads.in_parts,
        (rules.CHUNK_INDEPENDENCE, "wasted"): reads.in_parts,
        (rules.CHUNK_INDEPENDENCE, "left"): reads.in_parts,
        (rules.CHUNK_INDEPENDENCE, "fed"): reads.in_parts,
        (rules.CHUNK_INDEPENDENCE, "sampled"): reads.in_parts,
        (rules.CHUNK_INDEPENDENCE, "again"): reads.in_parts,
        (rules.CHUNK_INDEPENDENCE, "finished"): reads.in_parts,
        (rules.FCFS_ORDER, "overtakes"): reads.overtaken,
        (rules.COUNT_EQUALS_HOLDERS, "free"): claims.miscounted_free,
        (rules.CONSERVATION, "free"): claims.miscounted_free,
        (rules.COUNT_EQUALS_HOLDERS, "refs"): claims.miscounted,
        (rules.PUBLISH_ONLY_COMPUTED, "indexed"): claims.indexed,
        (rules.NO_DANGLING_REFERENCE, "table"): claims.wrong_table,
        (rules.FAILURE_IS_ATOMIC, "stranger's table"): claims.stranger,
        (rules.FAILURE_IS_ATOMIC, "stranger"): claims.stranger,
    }
)
"""The guards of which the past or the state knows more than the law says, by rule and name."""
