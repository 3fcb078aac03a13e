"""From states and events of the specification to finite structures in the vocabulary of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from kvexamine.proofs.cache.finite import Scope, Structure
from kvexamine.proofs.cache.model import ABSENT, DONE, RUNNING, WAITING
from kvspec import events as ev
from kvspec.state import Live, State
from kvspec.vocabulary import Phase, RequestId

PHASES = {Phase.WAITING: WAITING, Phase.RUNNING: RUNNING, Phase.DONE: DONE}
NO_BLOCK = -1
"""What stands where a table has no entry."""


def structure(before: State, after: State, event: ev.Event, newcomer: RequestId) -> Structure:
    """The step from `before` to `after` by `event`. `newcomer` is a request that neither state knows."""
    given = parameters(before, after, event, newcomer)
    requests = tuple(dict.fromkeys((*after.requests, given["q"], given["p"], newcomer)))
    longest = max([1, *(len(live.tokens) for live in after.requests.values())])
    indices = max(longest // after.world.block_size + 2, *(len(live.table) + 1 for live in after.requests.values()), 2)
    blocks = tuple(range(after.world.num_blocks))
    scope = Scope({"Block": blocks, "Request": requests}, indices, after.world.block_size)
    return Structure(scope, _constants(after, event) | given | _fields("s", before) | _fields("t", after))


def _constants(state: State, event: ev.Event) -> dict[str, Any]:
    size, lookahead = state.world.block_size, state.capabilities.lookahead_blocks
    salts = {id: ("salt", live.request.parts.salt) for id, live in state.requests.items()}
    limits = {id: live.request.limit for id, live in state.requests.items()}
    if isinstance(event, ev.Fork):
        salts[event.child.id], limits[event.child.id] = ("salt", event.child.parts.salt), event.child.limit
    histories = {
        context: (live.contexts, position)
        for live in state.requests.values()
        for position, context in enumerate(live.contexts)
    }

    def ancestor(context: int | None, offset: int) -> int | None:
        contexts, position = histories.get(context or 0, ([], 0)) if context is not None else ([], 0)
        place = position - position % size + offset
        return contexts[place] if place <= position < len(contexts) else None

    return {
        "size": size,
        "lookahead": lookahead,
        "budget": state.world.token_budget,
        "none": None,
        "nobody": None,
        "ancestor": ancestor,
        "depth": lambda context: histories[context][1] // size if context in histories else NO_BLOCK,
        "salt": lambda id: salts.get(id, ("salt", "")),
        "widest": lambda id: state.world.blocks_for(limits.get(id, 0)) + lookahead,
        "limit": lambda id: limits.get(id, 0) // size,
        "limit_rest": lambda id: limits.get(id, 0) % size,
        "reserved": state.reserved,
    }


def _fields(prefix: str, state: State) -> dict[str, Any]:
    found = _of_requests(state) | _of_blocks(state) | {"left": state.left}
    return {f"{prefix}.{name}": value for name, value in found.items()}


def _of_requests(state: State) -> dict[str, Callable[..., Any]]:
    size = state.world.block_size

    def of(read: Callable[[Live], Any], absent: Any) -> Callable[[RequestId], Any]:
        known = {id: read(live) for id, live in state.requests.items()}
        return lambda id: known.get(id, absent)

    tables = of(lambda live: live.table, [])
    contexts = of(lambda live: live.contexts, [])
    amounts: dict[str, Callable[[Live], int]] = {
        "computed": lambda live: live.computed,
        "tokens": lambda live: len(live.tokens),
        "allocated": lambda live: live.allocated,
    }
    halves: dict[str, Callable[..., Any]] = {}
    for name, amount in amounts.items():
        known = {id: divmod(amount(live), size) for id, live in state.requests.items()}
        halves[name] = partial(_half, known, 0)
        halves[f"{name}_rest"] = partial(_half, known, 1)

    def own(id: RequestId, index: int, offset: int) -> int | None:
        position, history = index * size + offset, contexts(id)
        return history[position] if 0 <= position < len(history) else None

    return halves | {
        "table": lambda id, index: tables(id)[index] if 0 <= index < len(tables(id)) else NO_BLOCK,
        "length": of(lambda live: len(live.table), 0),
        "place": lambda id, block: tables(id).index(block) if block in tables(id) else -1,
        "phase": of(lambda live: PHASES[live.phase], ABSENT),
        "ran": of(lambda live: live.ran, False),
        "victim": of(lambda live: live.preempted_in == state.step, False),
        "hit": of(lambda live: live.hit // size, 0),
        "own": own,
    }


def _half(pairs: Mapping[RequestId, tuple[int, int]], which: int, id: RequestId) -> int:
    return pairs.get(id, (0, 0))[which]


def _of_blocks(state: State) -> dict[str, Callable[..., Any]]:
    holders, blocks, unfinished = state.holders(), state.blocks, set(state.unfinished)

    def by(block: int, offset: int) -> Any:
        writer = blocks[block].writers[offset] if block >= 0 else None
        return None if writer is None else ("salt", state.requests[writer[0]].request.parts.salt)

    def due(block: int, offset: int) -> bool:
        writer = blocks[block].writers[offset] if block >= 0 else None
        return writer is not None and writer[1] in unfinished

    return {
        "count": lambda block: holders.get(block, 0),
        "ref": lambda block: blocks[block].ref if block >= 0 else 0,
        "key": lambda block: blocks[block].key if block >= 0 else None,
        "content": lambda block, offset: blocks[block].contexts[offset] if block >= 0 else None,
        "by": by,
        "due": due,
        "failed": lambda block: block >= 0 and blocks[block].failed,
        "fresh": lambda block: block >= 0 and blocks[block].epoch == state.epoch,
        "idle": lambda block: block in state.free,
        "fenced": lambda block: block >= 0 and bool(blocks[block].fence),
    }


@cache
def _neutral() -> Mapping[str, Any]:
    numbers = dict.fromkeys(("n", "x", "end", "end_rest", "count", "extent"), 0)
    flags = dict.fromkeys(("deferred", "accepted", "current"), False)
    return {
        **numbers,
        **flags,
        "target": NO_BLOCK,
        "sampled": None,
        "tab": lambda index: NO_BLOCK,
        "bad": lambda block, offset: False,
        "hurt": lambda block: False,
    }


def parameters(state: State, after: State, event: ev.Event, newcomer: RequestId) -> dict[str, Any]:
    """The parameters of the event's action."""
    given = dict(_neutral()) | {"q": getattr(event, "request", newcomer), "p": newcomer}
    table: tuple[int, ...] = getattr(event, "table", getattr(event, "blocks", ()))
    given |= {"tab": lambda index: table[index] if 0 <= index < len(table) else NO_BLOCK, "n": len(table)}
    given |= {
        name: getattr(event, name) for name in ("deferred", "accepted", "count", "target") if hasattr(event, name)
    }
    size = state.world.block_size
    match event:
        case ev.Add(request):
            given |= _pair(len(request.prompt), size) | {"q": request.id}
        case ev.Fork(parent, child):
            given |= {"q": parent, "p": child.id}
        case ev.Reserve():
            given |= _pair(event.end, size)
        case ev.Compute():
            given |= _pair(event.start + event.count, size)
        case ev.Copy(request, index):
            valid = max(0, min(state.requests[request].computed - index * size, size))
            given |= {"x": index, "extent": valid if event.extent is None else event.extent}
        case ev.Remap(_, index):
            given |= {"x": index}
        case ev.Sample(request):
            given |= {"sampled": after.requests[request].contexts[-1]}
        case ev.FailStep(number):
            given |= _failed(state, number)
        case ev.Dispatch(number):
            given |= {"current": number == state.step}
    return given


def _pair(tokens: int, size: int) -> dict[str, int]:
    return {"end": tokens // size, "end_rest": tokens % size}


def _failed(state: State, number: int) -> dict[str, Any]:
    bad = {
        (id, offset)
        for id, block in enumerate(state.blocks)
        for offset, writer in enumerate(block.writers)
        if writer is not None and writer[1] == number
    }
    hurt = {id for id, _ in bad}
    return {"bad": lambda block, offset: (block, offset) in bad, "hurt": lambda block: block in hurt}
