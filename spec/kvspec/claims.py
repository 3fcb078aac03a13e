"""Judging what an engine says of itself: free counts, reference counts, tables, its index, its counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kvspec import events as ev
from kvspec import mirror, rules, spoken
from kvspec.published import Published
from kvspec.rules import Rule
from kvspec.state import State
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def observe(state: State, event: ev.Observe, tally: Tally) -> None:
    """Require that every claim in `event` agrees with the state."""
    _known(state, event, tally)
    if event.tables is not None:
        spoken.tables(state, event, tally)
    if event.free_set is not None:
        _free_set(state, event.free_set, tally)
    if event.refs is not None:
        _refs(state, event, tally)
    if event.free is not None:
        _free(state, event.free, tally)
    if event.keyed is not None:
        _keyed(state, event.keyed, tally)
    if event.running is not None or event.waiting is not None:
        spoken.queues(state, event, tally)
    if event.counters is not None:
        _counters(state, event.counters, tally)
    if event.published is not None:
        _published(state, event.published, event.keyed, tally)


def _known(state: State, event: ev.Observe, tally: Tally) -> None:
    """Every block that is spoken of exists."""
    for ids, where in ((event.refs, "is counted"), (event.free_set, "is in the free set"), (event.keyed, "is indexed")):
        if ids and not (min(ids) >= 0 and max(ids) < len(state.blocks)):
            strange = next(id for id in ids if not 0 <= id < len(state.blocks))
            expected = f"ids 0 to {len(state.blocks) - 1}"
            tally.broken(rules.NO_DANGLING_REFERENCE, f"block {strange} {where}", expected, block=strange)


def _free(state: State, free: int, tally: Tally) -> None:
    expected = state.available
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    tally.met(rules.CONSERVATION)
    if _has_ended(state):
        tally.met(rules.EVERY_EXIT_RELEASES)
    if state.last == "refusal":
        tally.met(rules.FAILURE_IS_ATOMIC)
    if state.capabilities.reserved_blocks:
        tally.met(rules.RESERVED_BLOCK)
    if free == expected:
        return
    held = state.usable - expected
    seen = f"{free} of {state.usable} blocks are said to be free while {held} are held"
    if state.last == "refusal":
        rule = rules.FAILURE_IS_ATOMIC
    elif free > expected:
        rule = rules.COUNT_EQUALS_HOLDERS
    elif _has_ended(state):
        rule = rules.EVERY_EXIT_RELEASES
    else:
        rule = rules.CONSERVATION
    tally.broken(rule, seen, f"{expected} free")


def _has_ended(state: State) -> bool:
    """Whether somebody has just left or been dropped, or nobody is there and nothing is in flight."""
    if state.last in {"exit", "failure"}:
        return True
    return state.last not in {"refusal", "lookup"} and not state.live() and not any(state.in_flight.values())


def _refs(state: State, event: ev.Observe, tally: Tally) -> None:
    refs, holders = event.refs or {}, state.holders()
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    for id in set(refs) | set(holders):
        counted, held = refs.get(id, 0), holders.get(id, 0)
        if counted != held and not state.blocks[id].fence:
            rule = _miscount(state, id, counted, held)
            tally.broken(rule, f"block {id} counts {counted} references", f"its {held} holders", block=id)


def _miscount(state: State, id: BlockId, counted: int, held: int) -> Rule:
    """Which rule a wrong reference count breaks: a refusal that left something, an exit that did, or counting."""
    if state.last == "refusal":
        return rules.FAILURE_IS_ATOMIC
    block = state.blocks[id]
    if counted < held or block.release < 0:
        return rules.COUNT_EQUALS_HOLDERS
    if _is_lost_tail(state, id):
        return rules.ONE_PAGE_ROUNDING
    return rules.EVERY_EXIT_RELEASES if held == 0 or _has_ended(state) else rules.COUNT_EQUALS_HOLDERS


def _is_lost_tail(state: State, id: BlockId) -> bool:
    """Whether the block is the partly filled end of a table of which the rest was given back."""
    block = state.blocks[id]
    partly = block.contexts[0] is not None and block.contexts[-1] is None
    batch = [other for other in state.blocks if other.release == block.release]
    return partly and block.ref == 0 and len(batch) > 1 and block.depth == max(other.depth for other in batch)


def _free_set(state: State, free_set: tuple[BlockId, ...], tally: Tally) -> None:
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    tally.met(rules.NO_DANGLING_REFERENCE)
    for id, times in Counter(free_set).items():
        if state.blocks[id].fence:
            pending = ", ".join(str(transfer) for transfer in sorted(state.blocks[id].fence))
            tally.broken(
                rules.IN_FLIGHT_FENCE,
                f"block {id} is in the free set while transfer {pending} may still touch it",
                "it is free once that is done",
                block=id,
            )
        if times > 1:
            tally.broken(rules.COUNT_EQUALS_HOLDERS, f"block {id} is in the free set {times} times", "once", block=id)
        if id in state.capabilities.reserved_blocks:
            tally.broken(rules.RESERVED_BLOCK, f"the reserved block {id} is in the free set", "never", block=id)
        if state.blocks[id].ref:
            owners = [live.request.id for live in state.requests.values() if id in live.table]
            tally.broken(
                rules.NO_DANGLING_REFERENCE,
                f"block {id} is in the free set while the table of {' and '.join(owners)} names it",
                "a block is free only when no table names it",
                block=id,
            )


def _keyed(state: State, keyed: frozenset[BlockId], tally: Tally) -> None:
    """A block that the index names is full of computed tokens (S4)."""
    tally.met(rules.CONTENT_MATCHES_KEY)
    _kept(state, keyed, tally)
    for id in sorted(keyed):
        block = state.blocks[id]
        if None not in block.contexts or block.fence:
            continue
        if block.failed:
            rule, expected = rules.INVALIDATE, "what a failed step wrote leaves the index"
        elif block.lost:
            rule, expected = rules.CONTENT_MATCHES_KEY, "a reassigned block leaves the index"
        else:
            rule, expected = rules.PUBLISH_ONLY_COMPUTED, "only computed blocks enter the index"
        tally.broken(rule, f"the index names block {id}, which is not full of computed tokens", expected, block=id)


def _kept(state: State, keyed: frozenset[BlockId], tally: Tally) -> None:
    """What the index named before a reset that was refused it still names, right after it (S12)."""
    if state.kept is not None:
        forgotten = sorted(state.kept - keyed)
        tally.require(
            not forgotten,
            rules.FAILURE_IS_ATOMIC,
            lambda: (f"the index forgets block {forgotten[0]} in a reset that is refused", "it is as it was"),
        )
    state.shown, state.kept = keyed, None


def _counters(state: State, counters: tuple[int, int], tally: Tally) -> None:
    queries, hits = counters
    before_queries, before_hits = state.counters
    tally.require(
        0 <= hits <= queries,
        rules.COUNTERS,
        lambda: (f"{hits} hits of {queries} queried tokens", "0 <= hits <= queries"),
    )
    tally.require(
        queries >= before_queries and hits >= before_hits,
        rules.COUNTERS,
        lambda: (
            f"the counters go from {before_hits} of {before_queries} to {hits} of {queries}",
            "they only grow",
        ),
    )
    tally.require(
        hits == state.hit_tokens,
        rules.COUNTERS,
        lambda: (
            f"{hits} hit tokens are counted",
            f"{state.hit_tokens} tokens were hit ({state.resumed_hit_tokens} more by resumed requests, "
            "which are recomputation)",
        ),
    )
    state.counters = counters


def _published(state: State, published: tuple[Published, ...], keyed: frozenset[BlockId] | None, tally: Tally) -> None:
    """The subscriber of the published events has what the index has; where that is not shown, nothing else."""
    counts = state.capabilities.counts_copies
    state.mirror = mirror.replay(published, state.mirror, counts_copies=counts, tally=tally)
    contents = _contents(state, range(len(state.blocks)) if keyed is None else keyed)
    mirror.compare(state.mirror, contents, tally, exact=keyed is not None, counts_copies=counts)


def _contents(state: State, ids: Iterable[int]) -> Iterator[mirror.Content]:
    """What each of the blocks stands for, as far as it is full."""
    for id in ids:
        block = state.blocks[id]
        context, writer = block.contexts[-1], block.writers[-1]
        if context is not None and writer is not None:
            parts = state.requests[writer[0]].request.parts
            yield mirror.Content(parts.salt, parts.computes, state.contexts.elements(context))
