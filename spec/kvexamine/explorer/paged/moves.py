"""What may happen next in a state: events are proposed generously, and the transition accepts or refuses them.

A move is an event with what follows from it at once: a computed request samples, one with all its tokens finishes.
In scopes that dispatch, both wait for the completion of the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from kvexamine.explorer.broken import Wrong, fallen
from kvexamine.explorer.paged.scope import Scope
from kvexamine.explorer.sampling import sampled
from kvexamine.explorer.transition import Transition
from kvspec import events as ev
from kvspec.state import Live, State
from kvspec.violation import HarnessFault
from kvspec.vocabulary import BlockId, Phase, StepId, TransferId

Move = tuple[ev.Event, ...]


def proposals(scope: Scope, state: State) -> Iterator[ev.Event]:
    """Every event of the scope's alphabet that is worth putting to the transition."""
    for live in list(state.requests.values()):
        yield from of_request(scope, state, live)
    yield from of_step(scope, state)


def of_request(scope: Scope, state: State, live: Live) -> Iterator[ev.Event]:
    """What may happen to one request."""
    name = live.request.id
    if live.phase is Phase.WAITING:
        yield from _starts(scope, state, live)
        if scope.has("swap") and live.swapped is not None:
            for new in picks(scope, state, live, state.world.blocks_for(live.computed)):
                yield ev.SwapIn(name, new, transfer_of(state, live))
    elif live.phase is Phase.RUNNING:
        yield from _computes(scope, state, live)
        if scope.has("copy"):
            yield from _copies(scope, state, live)
        if scope.has("fork") and scope.child is not None and scope.child.id not in state.requests:
            yield from _forks(scope, state, live)
        if scope.has("preempt"):
            yield ev.Preempt(name)
        if scope.has("swap") and live.transfer is None:
            yield ev.SwapOut(name, transfer_of(state, live))
        if scope.has("finish"):
            yield ev.Finish(name)
    yield from _exits(scope, live)


def _exits(scope: Scope, live: Live) -> Iterator[ev.Event]:
    name = live.request.id
    if scope.has("abort") and live.phase is not Phase.DONE:
        yield ev.Abort(name)
        if scope.has("defer") and live.table:
            yield ev.Abort(name, deferred=True)
    if scope.has("defer") and live.phase is Phase.DONE and live.table:
        yield ev.Release(name)
    if scope.has("reject") and live.phase is Phase.WAITING:
        yield ev.Reject(name)


def of_step(scope: Scope, state: State) -> Iterator[ev.Event]:
    """What may happen to the step, to the cache as a whole, and to transfers."""
    if state.live() and not (state.planned and len(state.in_flight) == scope.in_flight):
        yield ev.EndStep()
    for number in tuple(state.in_flight):
        yield ev.Complete(number)
    if scope.has("fail"):
        for number in state.in_flight if scope.has("dispatch") else (StepId(state.step),):
            if any(
                w is not None and w[1] == number for block in state.blocks if not block.failed for w in block.writers
            ):
                yield ev.FailStep(number)
    for transfer in tuple(state.transfers):
        yield ev.TransferDone(transfer)
    if scope.has("reset") and any(block.key is not None for block in state.blocks):
        yield ev.Reset(accepted=True)


def _starts(scope: Scope, state: State, live: Live) -> Iterator[ev.Event]:
    """Hits of every length that the keys offer, the whole prompt included; with duplicates, each of them."""
    size = state.world.block_size
    found: list[list[BlockId]] = []
    for end in range(size, len(live.tokens) + 1, size):
        same = [BlockId(b) for b, block in enumerate(state.blocks) if block.key == live.contexts[end - 1]]
        if not same or not state.world.caching:
            break
        found.append(same)
    lengths = range(len(found) + 1) if scope.has("short-hits") else (*{max(_whole(live, size, found), 0), len(found)},)
    for length in lengths:
        for blocks in product(*found[:length]):
            yield ev.Start(live.request.id, length * size, blocks)


def _whole(live: Live, size: int, found: list[list[BlockId]]) -> int:
    """Blocks of the longest hit that leaves a token to compute."""
    return min(len(found), (len(live.tokens) - 1) // size)


def _computes(scope: Scope, state: State, live: Live) -> Iterator[ev.Event]:
    """Every chunk up to the budget of a whole step, in blocks that the scope's choice of victims offers."""
    start = live.computed
    for count in range(1, min(state.world.token_budget, len(live.tokens) - start) + 1):
        need = max(state.world.blocks_for(start + count) - len(live.table), 0)
        if need > 0 and scope.has("refuse"):
            yield ev.Refuse(live.request.id, need)
        for wrong in (-1, 0, 1) if scope.takes == "any" else (0,):
            for new in picks(scope, state, live, max(need + wrong, 0)):
                yield ev.Compute(live.request.id, start, count, (*live.table, *new))


def _copies(scope: Scope, state: State, live: Live) -> Iterator[ev.Event]:
    for index, source in enumerate(live.table):
        if state.blocks[source].ref > 1:
            for (target,) in picks(scope, state, live, 1):
                yield ev.Copy(live.request.id, index, source, target)


def _forks(scope: Scope, state: State, live: Live) -> Iterator[ev.Event]:
    """The child shares everything, or has a copy of the last block."""
    child = scope.child
    if child is None or child.prompt != live.request.prompt:
        return
    yield ev.Fork(live.request.id, child, tuple(live.table))
    if live.table:
        for last in picks(scope, state, live, 1):
            yield ev.Fork(live.request.id, child, (*live.table[:-1], *last))


def picks(scope: Scope, state: State, live: Live, need: int) -> Iterator[tuple[BlockId, ...]]:
    """The blocks that may be taken: the head of the order of eviction, any idle ones, or any at all."""
    idle = list(state.free)
    if scope.takes == "any":
        idle = [BlockId(b) for b in range(state.world.num_blocks) if b not in live.table]
    elif scope.takes == "head":
        idle = idle[:need]
    yield from combinations(idle, need)


def transfer_of(state: State, live: Live) -> TransferId:
    """A request has one transfer at a time, which is called by its place."""
    return TransferId(list(state.requests).index(live.request.id))


def play(scope: Scope, transition: Transition, state: State, event: ev.Event) -> Move:
    """Apply an event to `state` in place with what follows from it, and return all of it.

    Raises `Broken` where something is refused. That what is proposed can be said is up to us: `Wrong` where it cannot.
    """
    done: list[ev.Event] = []
    try:
        for one in _events(scope, state, event):
            transition(state, one)
            done.append(one)
    except HarnessFault as fault:
        raise Wrong(fallen(fault)) from fault
    return tuple(done)


def _events(scope: Scope, state: State, event: ev.Event) -> Iterator[ev.Event]:
    """The event and what follows from it; each is applied before the next is asked for."""
    dispatches = scope.has("dispatch")
    if isinstance(event, ev.EndStep) and dispatches and state.planned:
        yield ev.Dispatch(StepId(state.step))
    yield event
    if isinstance(event, ev.Compute) and not dispatches:
        yield from _samples(state, [state.requests[event.request]])
    elif isinstance(event, ev.Complete):
        yield from _samples(state, [live for live in state.live() if not live.ran])
    elif isinstance(event, ev.FailStep):
        wrote = {w[0] for block in state.blocks for w in block.writers if w is not None and w[1] == event.step}
        if event.step in state.in_flight:
            yield ev.Complete(event.step)
        for live in state.live():
            if live.request.id in wrote:
                yield ev.Abort(live.request.id)


def _samples(state: State, lives: Sequence[Live]) -> Iterator[ev.Event]:
    """Those whose tokens are all computed sample, and finish where it was the last token."""
    for live in lives:
        if live.phase is Phase.RUNNING and live.computed == len(live.tokens):
            yield ev.Sample(live.request.id, sampled(state, live))
            if live.generated >= live.request.max_new_tokens:
                yield ev.Finish(live.request.id)
