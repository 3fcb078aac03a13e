"""Tells a trial to a person: the world, the numbered steps with their effects, the table and the ghost memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kvspec import events as ev
from kvspec.state import State
from kvspec.vocabulary import KeyParts, RequestId

from kvconformance.history import History, Operation
from kvconformance.trial import Trial


def world_line(history: History, stepper: bool) -> str:
    """The world in one line."""
    parts = [f"{history.num_blocks} blocks of {history.block_size} token" + ("s" if history.block_size > 1 else "")]
    if stepper:
        parts += [f"budget {history.token_budget}", f"at most {history.max_running} running", history.policy]
        parts += [f"preemption by {history.preemption}"] if history.preemption != "recompute" else []
    parts += [] if history.caching else ["no prefix cache"]
    parts += [f"{key}={value}" for key, value in history.options.items()]
    return ", ".join(parts)


def steps(trial: Trial) -> list[str]:
    """The operations, numbered, each with what the engine did."""
    lines: list[str] = []
    size = trial.history.block_size
    for operation, effects in _grouped(trial.checker.events):
        said = [text for event in effects if (text := _tell(event, size))]
        if not said and isinstance(operation, Operation):
            continue
        verb = "drain" if isinstance(operation, str) else type(operation).__name__.lower()
        verb = _VERBS.get(verb, verb)
        lines.append(f"{len(lines) + 1:3}  {verb:<8}" + "; ".join(said or ["(nothing)"]))
    return lines


def operations(history: History) -> list[str]:
    """The operations alone, where nothing is known of their effects."""
    lines = []
    for number, operation in enumerate(history.operations, 1):
        fields = [f"{name}={value}" for name in operation.__struct_fields__ if (value := getattr(operation, name))]
        lines.append(f"{number:3}  {type(operation).__name__.lower():<8}" + " ".join(fields))
    return lines


def ghost(trial: Trial) -> list[str]:
    """The block table of the request in question, and what each of its blocks holds."""
    if trial.violation is None:
        return []
    facts, state = trial.violation.facts, trial.checker.state
    lines = []
    request = facts.get("request")
    live = state.requests.get(RequestId(str(request))) if request is not None else None
    blocks = list(live.table) if live else []
    if live:
        lines.append(f"{request}  tokens {list(live.tokens)}  computed {live.computed}  block table {blocks}")
    block = facts.get("block")
    if isinstance(block, int) and block not in blocks and 0 <= block < len(state.blocks):
        blocks.append(block)  # type: ignore[arg-type]
    lines += [f"  block {id}: {_content(state, id)}" for id in blocks]
    return lines


def _content(state: State, id: int) -> str:
    block = state.blocks[id]
    holders = [live.request.id for live in state.requests.values() if id in live.table]
    slots = []
    for context, writer in zip(block.contexts, block.writers, strict=True):
        if context is None:
            slots.append("·")
        else:
            tokens = state.contexts.tokens(context)
            who = f"{writer[0]}@{writer[1]}" if writer else "?"
            slots.append(f"token {tokens[-1]} at position {len(tokens) - 1} ({who})")
    return f"[{' | '.join(slots)}]  held by {', '.join(holders) or 'nobody'}"


def _grouped(events: Iterable[object]) -> list[tuple[object, list[ev.Event]]]:
    groups: list[tuple[object, list[Any]]] = []
    for event in events:
        if isinstance(event, Operation | str):
            groups.append((event, []))
        elif groups:
            groups[-1][1].append(event)
    return groups


def _tell(event: object, block_size: int) -> str:
    teller = _TELL.get(type(event))
    return teller(event, block_size) if teller else ""


def _span(start: int, count: int) -> str:
    return f"position {start}" if count == 1 else f"positions {start}-{start + count - 1}"


def _blocks(ids: Iterable[int]) -> str:
    ids = list(ids)
    return f"block{'s' if len(ids) != 1 else ''} " + " ".join(str(id) for id in ids)


def _parts(parts: KeyParts) -> str:
    said = [f"{name}={value}" for name in ("salt", "adapter") if (value := getattr(parts, name)) is not None]
    said += [f"{name}={value}" for name in ("adapter_version", "weights") if (value := getattr(parts, name))]
    said += [f"media={m.digest}@{m.position}+{m.length}" for m in parts.media]
    return (" " + " ".join(said)) if said else ""


def _compute(event: ev.Compute, size: int) -> str:
    blocks = event.table[event.start // size : -(-(event.start + event.count) // size)]
    told = f"{event.request} computes {_span(event.start, event.count)} in {_blocks(blocks)}"
    if event.slots:
        homes = [(event.table[p // size], p % size) for p in range(event.start, event.start + event.count)]
        if homes != list(event.slots):
            block, offset = event.slots[0]
            told += f" but writes from block {block} slot {offset} on"
    return told


_VERBS = {"begin": "dispatch", "end": "complete", "freeagain": "free2", "commit": "compute"}

_TELL: dict[type, Callable[[Any, int], str]] = {
    ev.Add: lambda e, _: (
        f"{e.request.id} {list(e.request.prompt)} up to {e.request.max_new_tokens} new"
        + (f" priority {e.request.priority}" if e.request.priority else "")
        + _parts(e.request.parts)
    ),
    ev.Reject: lambda e, _: f"{e.request} is rejected for good",
    ev.Refuse: lambda e, _: f"{e.request} is refused ({e.need} more blocks)",
    ev.Lookup: lambda e, _: f"{e.request} would hit {e.hit} tokens in {_blocks(e.blocks)}",
    ev.Start: lambda e, _: f"{e.request} starts on a hit of {e.hit} tokens: {_blocks(e.blocks)}" if e.hit else "",
    ev.Reserve: lambda e, _: f"{e.request} is given {_blocks(e.table)} for {e.end} tokens",
    ev.Compute: _compute,
    ev.Copy: lambda e, _: f"{e.request} copies block {e.source} to {e.target}",
    ev.Remap: lambda e, _: f"{e.request} entry {e.index} moves to block {e.target}",
    ev.Fork: lambda e, _: f"{e.child.id} forks {e.parent} with {_blocks(e.table)}",
    ev.Sample: lambda e, _: f"{e.request} samples {e.token}",
    ev.Preempt: lambda e, _: f"{e.request} is preempted",
    ev.SwapOut: lambda e, _: f"{e.request} is swapped out by transfer {e.transfer}",
    ev.SwapIn: lambda e, _: f"{e.request} is swapped into {_blocks(e.table)} by transfer {e.transfer}",
    ev.TransferDone: lambda e, _: f"transfer {e.transfer} is done",
    ev.Finish: lambda e, _: f"{e.request} finishes",
    ev.Abort: lambda e, _: f"{e.request} ends" + (" (its blocks follow)" if e.deferred else ""),
    ev.Release: lambda e, _: f"{e.request}'s blocks are given back",
    ev.ReleaseAgain: lambda e, _: f"{e.request} is released a second time",
    ev.Reset: lambda e, _: f"the cache is reset: {'done' if e.accepted else 'refused'}",
    ev.FailStep: lambda e, _: "the step fails",
}
