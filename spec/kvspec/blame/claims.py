"""Which rule a wrong self-description breaks, from what has just happened: a refusal, an exit, or nothing special."""

from __future__ import annotations

from kvspec import rules
from kvspec.blame.case import Case
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.violation import HarnessFault
from kvspec.vocabulary import DONE, BlockId


def miscounted_free(case: Case) -> Rule:
    """Too many or too few free blocks."""
    if case.past.refused:
        return rules.FAILURE_IS_ATOMIC
    if case.rule is rules.CONSERVATION and case.past.ended(case.state):
        return rules.EVERY_EXIT_RELEASES
    return case.rule


def miscounted(case: Case) -> Rule:
    """A wrong reference count: a refusal that left something, an exit that did, or counting."""
    if case.past.refused:
        return rules.FAILURE_IS_ATOMIC
    id, held = case.facts["block"], case.facts["held"]
    if case.facts["counted"] < held or case.state.blocks[id].release < 0:
        return rules.COUNT_EQUALS_HOLDERS
    if _is_lost_tail(case.state, id):
        return rules.ONE_PAGE_ROUNDING
    ended = held == 0 or case.past.ended(case.state)
    return rules.EVERY_EXIT_RELEASES if ended else rules.COUNT_EQUALS_HOLDERS


def _is_lost_tail(state: State, id: BlockId) -> bool:
    """Whether the block is the partly filled end of a table of which the rest was given back."""
    block = state.blocks[id]
    partly = block.contexts[0] is not None and block.contexts[-1] is None
    batch = [other for other in state.blocks if other.release == block.release]
    return partly and block.ref == 0 and len(batch) > 1 and block.depth == max(other.depth for other in batch)


def indexed(case: Case) -> Rule:
    """A block in the index that is not full: one that changed hands and stayed there, or one published too early."""
    id, before = case.facts["block"], case.past.indexed
    stayed = case.past.lost.get(id) and (before is None or id in before)
    return rules.CONTENT_MATCHES_KEY if stayed else rules.PUBLISH_ONLY_COMPUTED


def wrong_table(case: Case) -> Rule:
    """A wrong table, from what has just happened to its request."""
    live = case.live
    if case.past.refused:
        return rules.FAILURE_IS_ATOMIC
    held = set(live.held())
    if not held:
        return rules.EVERY_EXIT_RELEASES
    if live.phase is DONE and any(held & touched for touched in case.state.in_flight.values()):
        return rules.IN_FLIGHT_FENCE
    return rules.NO_DANGLING_REFERENCE


def stranger(case: Case) -> Rule:
    """A name that nobody has added: what a refused operation left behind or, without one, a slip of the teller."""
    if not case.past.refused:
        told = f"has the table {case.facts['table']}" if "table" in case.facts else "stands in a queue"
        raise HarnessFault(f"an observation tells that {case.facts['request']}, which was never added, {told}")
    return rules.FAILURE_IS_ATOMIC
