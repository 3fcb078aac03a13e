"""Which rule a request breaks that goes on in parts, from the way by which it came to what it reads."""

from __future__ import annotations

from kvspec import rules
from kvspec.blame.case import Case
from kvspec.rules import Rule


def in_parts(case: Case) -> Rule:
    """What goes wrong after a preemption is a matter of resuming."""
    return rules.RESUME_EQUALS_UNINTERRUPTED if case.live.resumed else rules.CHUNK_INDEPENDENCE


def past_the_end(case: Case) -> Rule:
    """Too many positions after a hit: the length scheduled was not what the hit leaves."""
    return rules.FRESH_HIT if case.live.hit else in_parts(case)


def wrong_slot(case: Case) -> Rule:
    """A slot that nobody wrote is missing; one that somebody wrote was changed."""
    block = case.state.blocks[case.facts["block"]]
    written = block.writers[case.facts["slot"]] is not None
    return rules.SHARED_BYTES_NEVER_CHANGE if written else in_parts(case)


def overtaken(case: Case) -> Rule:
    """Who overtakes a victim has left it in the wrong queue."""
    first = case.state.requests[case.facts["first"]]
    return rules.ONE_QUEUE if first.resumed else rules.FCFS_ORDER
