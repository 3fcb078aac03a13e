"""Events of a paged cache in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from kvspec import events as ev
from kvspec.published import BlockRemoved, BlockStored, Published
from kvspec.vocabulary import KeyParts


def tell(event: ev.Event, block_size: int) -> str:
    """One event, whose blocks have so many tokens."""
    return _TELL[type(event)](event, block_size)


def tokens_text(tokens: Iterable[int]) -> str:
    """Tokens with runs of five and more folded: `0 0 1` or `1×16 0×3`."""
    runs = [(token, len(list(group))) for token, group in groupby(tokens)]
    return " ".join(f"{token}×{n}" if n > 4 else " ".join([str(token)] * n) for token, n in runs)


def span(start: int, count: int) -> str:
    """So many positions."""
    if count < 1:
        return f"no position from {start} on"
    return f"position {start}" if count == 1 else f"positions {start}-{start + count - 1}"


def blocks(*tables: Iterable[int | None]) -> str:
    """The blocks of one table, or those of each group in brackets; a dot stands for an entry without one."""
    told = [" ".join("·" if id is None else str(id) for id in table) for table in map(list, tables)]
    if len(told) > 1:
        return "blocks " + " ".join(f"[{ids}]" for ids in told)
    return f"block{'s' if ' ' in told[0] or not told[0] else ''} {told[0]}"


def _parts(parts: KeyParts) -> str:
    said = [f"{name}={value}" for name in ("salt", "adapter") if (value := getattr(parts, name)) is not None]
    said += [f"{name}={value}" for name in ("adapter_version", "weights") if (value := getattr(parts, name))]
    said += [f"media={m.digest}@{m.position}+{m.length}" for m in parts.media]
    return (" " + " ".join(said)) if said else ""


def _compute(event: ev.Compute, size: int) -> str:
    if event.more:
        return f"{event.request} computes {span(event.start, event.count)} in {blocks(*event.tables)}"
    own = event.table[event.start // size : -(-(event.start + event.count) // size)]
    told = f"{event.request} computes {span(event.start, event.count)} in {blocks(own)}"
    if event.slots and own and event.slots[0] != (own[0], event.start % size):
        block, offset = event.slots[0]
        told += f", writing from block {block} slot {offset} on"
    return told


def published(messages: Iterable[Published]) -> str:
    """The messages to subscribers in one line; they are no effects by themselves, so none is empty."""
    told = []
    for message in messages:
        if isinstance(message, BlockStored):
            told.append(f"stored ({tokens_text(message.tokens)})" + _parts(message.parts))
        else:
            told.append(f"removed {len(message.keys)}" if isinstance(message, BlockRemoved) else "all cleared")
    return f"published: {', '.join(told)}" if told else ""


def _said(event: ev.Observe) -> list[str]:
    return [f"{name}={value}" for name in event.__slots__ if (value := getattr(event, name)) is not None]


_TELL: Final[Mapping[type, Callable[[Any, int], str]]] = MappingProxyType(
    {
        ev.Add: lambda e, _: (
            f"{e.request.id} [{tokens_text(e.request.prompt)}] up to {e.request.max_new_tokens} new"
            + (f" or to {tokens_text(sorted(e.request.stops))}" if e.request.stops else "")
            + (f" priority {e.request.priority}" if e.request.priority else "")
            + _parts(e.request.parts)
        ),
        ev.Reject: lambda e, _: f"{e.request} is rejected for good",
        ev.Refuse: lambda e, _: f"{e.request} is refused ({e.need} more blocks)",
        ev.Decline: lambda e, _: f"nothing is done for {e.request}",
        ev.Lookup: lambda e, _: f"{e.request} would hit {e.hit} tokens in {blocks(*e.tables)}",
        ev.Start: lambda e, _: (
            f"{e.request} starts " + (f"on a hit of {e.hit} tokens: {blocks(*e.tables)}" if e.hit else "without a hit")
        ),
        ev.Reserve: lambda e, _: f"{e.request} is given {blocks(*e.tables)} for {e.end} tokens",
        ev.Trim: lambda e, _: f"{e.request} gives back entry {e.index} of group {e.group}",
        ev.Compute: _compute,
        ev.Waste: lambda e, _: f"{e.request} computes {e.count} positions in {blocks(*e.tables)} for nobody",
        ev.Copy: lambda e, _: f"{e.request} copies block {e.source} to {e.target}",
        ev.Remap: lambda e, _: f"{e.request} entry {e.index} moves to block {e.target}",
        ev.Fork: lambda e, _: f"{e.child.id} forks {e.parent} with {blocks(*e.tables)}",
        ev.Sample: lambda e, _: f"{e.request} samples {e.token}",
        ev.Preempt: lambda e, _: f"{e.request} is preempted" + (" between two plans" if e.between else ""),
        ev.SwapOut: lambda e, _: f"{e.request} is swapped out by transfer {e.transfer}",
        ev.SwapIn: lambda e, _: f"{e.request} is swapped into {blocks(*e.tables)} by transfer {e.transfer}",
        ev.TransferDone: lambda e, _: f"transfer {e.transfer} is done",
        ev.Finish: lambda e, _: f"{e.request} finishes",
        ev.Abort: lambda e, _: f"{e.request} ends" + (" (its blocks follow)" if e.deferred else ""),
        ev.Release: lambda e, _: f"{e.request}'s blocks are given back",
        ev.ReleaseAgain: lambda e, _: f"{e.request} is released a second time",
        ev.Reset: lambda e, _: f"the cache is reset: {'done' if e.accepted else 'refused'}",
        ev.FailStep: lambda e, _: "the step fails",
        ev.EndStep: lambda e, _: "the step ends",
        ev.Dispatch: lambda e, _: f"step {e.step} is dispatched",
        ev.Complete: lambda e, _: f"step {e.step} finishes",
        ev.Observe: lambda e, _: f"the engine says of itself: {', '.join(_said(e)) or 'nothing'}",
    }
)
