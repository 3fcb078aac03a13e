"""Judging what an engine says of itself: free counts, reference counts, tables, its index, its counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kvspec import events as ev
from kvspec import mirror, rules, spoken
from kvspec.published import Published
from kvspec.state import State
from kvspec.transition.guards import group_of
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def observe(state: State, event: ev.Observe, tally: Tally) -> None:
    """Require that every claim in `event` agrees with the state.

    Raises what `_known`, `_free_set`, `_refs`, `_free`, `_keyed`, `_counters`, `tables` and `queues` raise; of what is
    published, the mirror judges.
    """
    group_of(state, event.group)
    _known(state, event, tally)
    if event.tables is not None:
        spoken.tables(state, event, tally)
    if event.free_set is not None:
        _free_set(state, event.free_set, tally)
    if event.refs is not None:
        _refs(state, event, tally)
    if event.free is not None:
        _free(state, event.group, event.free, tally)
    if event.keyed is not None:
        _keyed(state, event.keyed, tally)
    if event.running is not None or event.waiting is not None:
        spoken.queues(state, event, tally)
    if event.counters is not None:
        _counters(state, event.counters, tally)
    if event.published is not None:
        _published(state, event.published, event.keyed, tally)


def _known(state: State, event: ev.Observe, tally: Tally) -> None:
    """Every block that is spoken of exists.

    Raises alloc/no-dangling-reference.
    """
    for ids, where in ((event.refs, "is counted"), (event.free_set, "is in the free set"), (event.keyed, "is indexed")):
        if ids and not (min(ids) >= 0 and max(ids) < len(state.blocks)):
            strange = next(id for id in ids if not 0 <= id < len(state.blocks))
            tally.fail(rules.NO_DANGLING_REFERENCE, "unknown", block=strange, where=where)


def _free(state: State, number: int, free: int, tally: Tally) -> None:
    """Those that could be handed out to a group are free.

    Raises alloc/count-equals-holders, alloc/conservation.
    """
    tally.met(rules.COUNT_EQUALS_HOLDERS, rules.CONSERVATION)
    if state.capabilities.reserved_blocks:
        tally.met(rules.RESERVED_BLOCK)
    expected = state.available_in(state.layout.pool_of(number))
    facts = {"free": free, "usable": state.usable, "right": expected, "group": number}
    if free > expected:
        tally.fail(rules.COUNT_EQUALS_HOLDERS, "free", **facts)
    if free < expected:
        tally.fail(rules.CONSERVATION, "free", **facts)


def _refs(state: State, event: ev.Observe, tally: Tally) -> None:
    """Each block counts the tables that name it.

    Raises alloc/count-equals-holders.
    """
    refs, holders = event.refs or {}, state.holders()
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    for id in () if refs == holders else set(refs) | set(holders):
        counted, held = refs.get(id, 0), holders.get(id, 0)
        if counted != held and not state.blocks[id].fence:
            tally.fail(rules.COUNT_EQUALS_HOLDERS, "refs", block=id, counted=counted, held=held)


def _free_set(state: State, free_set: tuple[BlockId, ...], tally: Tally) -> None:
    """Each free block is in the set once, and no block that is held, reserved or fenced.

    Raises alloc/in-flight-fence, alloc/count-equals-holders, alloc/reserved-block, alloc/no-dangling-reference.
    """
    tally.met(rules.COUNT_EQUALS_HOLDERS, rules.NO_DANGLING_REFERENCE)
    names = set(free_set)
    if len(names) == len(free_set) and state.free.keys() >= names:
        return
    for id, times in Counter(free_set).items():
        if state.blocks[id].fence:
            tally.fail(rules.IN_FLIGHT_FENCE, "free", block=id)
        if times > 1:
            tally.fail(rules.COUNT_EQUALS_HOLDERS, "twice free", block=id, times=times)
        if state.reserved(id):
            tally.fail(rules.RESERVED_BLOCK, "free", block=id)
        if state.blocks[id].ref:
            tally.fail(rules.NO_DANGLING_REFERENCE, "free", block=id)


def _keyed(state: State, keyed: frozenset[BlockId], tally: Tally) -> None:
    """A block that the index names is full of computed tokens (S4).

    Raises prefix/invalidate, prefix/publish-only-computed, and what `_kept` raises.
    """
    tally.met(rules.CONTENT_MATCHES_KEY)
    _kept(state, keyed, tally)
    for id in sorted(id for id in keyed if None in state.blocks[id].contexts):
        if state.blocks[id].fence:
            continue
        if state.blocks[id].failed:
            tally.fail(rules.INVALIDATE, "indexed", block=id)
        else:
            tally.fail(rules.PUBLISH_ONLY_COMPUTED, "indexed", block=id)


def _kept(state: State, keyed: frozenset[BlockId], tally: Tally) -> None:
    """What the index named before a reset that was refused it still names, right after it (S12).

    Raises alloc/failure-is-atomic.
    """
    if state.kept is not None:
        tally.met(rules.FAILURE_IS_ATOMIC)
        if forgotten := sorted(state.kept - keyed):
            tally.fail(rules.FAILURE_IS_ATOMIC, "reset", forgotten=forgotten[0])
    state.shown, state.kept = keyed, None


def _counters(state: State, counters: tuple[int, int], tally: Tally) -> None:
    """Hits are among the tokens queried, both only grow, and what was hit is counted.

    Raises obs/counters.
    """
    (queries, hits), (before_queries, before_hits) = counters, state.counters
    tally.met(rules.COUNTERS, rules.COUNTERS, rules.COUNTERS)
    if not 0 <= hits <= queries:
        tally.fail(rules.COUNTERS, "among", hits=hits, queries=queries)
    if queries < before_queries or hits < before_hits:
        before = {"before_hits": before_hits, "before_queries": before_queries}
        tally.fail(rules.COUNTERS, "shrink", hits=hits, queries=queries, **before)
    if hits != state.hit_tokens:
        tally.fail(rules.COUNTERS, "hits", hits=hits, right=state.hit_tokens)
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
