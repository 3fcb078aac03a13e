"""Tells what happened to a person: the world, the numbered steps with their effects, the table and the ghost memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, get_args

from kvconformance.checker import Said
from kvconformance.history import History, Operation
from kvexamine.telling.paged import published, span, tell, tokens_text
from kvspec import events as ev
from kvspec.state import PENDING, State
from kvspec.violation import Violation
from kvspec.vocabulary import RequestId

Teller = Callable[[Any, int], str]
"""An event and the block size in words."""


def world_line(history: History, *limits: str) -> str:
    """The world in one line: its blocks, other limits that it has, and what differs from the usual."""
    parts = [f"{history.num_blocks} blocks of {history.block_size} token" + ("s" if history.block_size > 1 else "")]
    parts += [*limits, *([] if history.caching else ["no prefix cache"])]
    return ", ".join([*parts, *(f"{key}={value}" for key, value in history.options.items())])


def stepped_world(history: History) -> str:
    """The same for an engine that plans steps."""
    limits = [f"budget {history.token_budget}", f"at most {history.max_running} running", history.policy]
    limits += [f"preemption by {history.preemption}"] if history.preemption != "recompute" else []
    return world_line(history, *limits)


@dataclass(frozen=True, kw_only=True)
class Story:
    """How what happens on a surface is told: its world, its operations, its events, and what the memory then holds."""

    world: Callable[[History], str] = world_line
    verbs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What operations are called, where it is not their name."""
    tell: Mapping[type, Teller] = field(default_factory=lambda: MappingProxyType({}))
    """By the type of an event, its words; empty ones for an event that is no effect of its own."""
    ghost: Callable[[Any, Violation], list[str]] = lambda state, violation: []
    """The memory that a violation speaks of, out of the state of the machine."""

    def steps(self, events: Iterable[object], block_size: int) -> list[str]:
        """The operations, numbered, each with what the engine did."""
        lines: list[str] = []
        number = 0
        for operation, effects in _grouped(events):
            said = [text for event in effects if (text := self.told(event, block_size))]
            if not said and effects:
                said = ["(nothing)"]
            if not said:
                continue
            number += 1
            verb = type(operation).__name__.lower() if isinstance(operation, Operation) else str(operation)
            lines += _folded(f"{number:3}  {self.verbs.get(verb, verb):<9} ", said)
        return lines

    def told(self, event: object, block_size: int) -> str:
        """One event in words."""
        if isinstance(event, Said):
            return event.text
        teller = self.tell.get(type(event))
        return teller(event, block_size) if teller else ""


def _folded(head: str, said: list[str], width: int = 112) -> list[str]:
    """Effects joined by semicolons, on as many lines as they need."""
    lines, line = [], head + said[0]
    for text in said[1:]:
        if len(line) + len(text) + 2 > width:
            lines.append(line + ";")
            line = " " * len(head) + text
        else:
            line += "; " + text
    return [*lines, line]


def operations(history: History) -> list[str]:
    """The operations alone, where nothing is known of their effects."""
    lines = []
    for number, operation in enumerate(history.operations, 1):
        fields = [f"{name}={value}" for name in operation.__struct_fields__ if (value := getattr(operation, name))]
        lines.append(f"{number:3}  {type(operation).__name__.lower():<8}" + " ".join(fields))
    return lines


def memory(state: State, facts: Mapping[str, object]) -> list[str]:
    """The block table of the request among the facts of a violation, and what its blocks hold."""
    lines = []
    request = facts.get("request")
    live = state.requests.get(RequestId(str(request))) if request is not None else None
    blocks = list(live.held()) if live else []
    if live:
        tables = " ".join(
            "[" + ", ".join("·" if id is None else str(id) for id in table) + "]" for table in live.tables
        )
        said = f"block table{'s' if state.layout.several else ''} {tables}"
        lines.append(f"{request}  tokens [{tokens_text(live.tokens)}]  computed {live.computed}  {said}")
    block = facts.get("block")
    if isinstance(block, int) and block not in blocks and 0 <= block < len(state.blocks):
        blocks.append(block)  # type: ignore[arg-type]
    lines += [f"  block {id}: {_content(state, id)}" for id in blocks]
    return lines


def _content(state: State, id: int) -> str:
    """What the slots of a block hold, neighbours that were written together as one run."""
    block = state.blocks[id]
    holders = [live.request.id for live in state.requests.values() if id in set(live.held())]
    runs: list[list[_Slot]] = []
    for slot in (_slot(state, id, offset) for offset in range(len(block.contexts))):
        if runs and slot.follows(runs[-1][-1]):
            runs[-1].append(slot)
        else:
            runs.append([slot])
    told = " | ".join(_run(run) for run in runs)
    return f"[{told}]  held by {', '.join(holders) or 'nobody'}"


@dataclass(frozen=True)
class _Slot:
    """One slot of the ghost memory: position and token of what it holds, who wrote it in which step."""

    position: int | None
    token: int = 0
    writer: str = "?"
    step: int = -1

    def follows(self, other: _Slot) -> bool:
        """Whether both were written together, this one at the next position."""
        if self.position is None or other.position is None:
            return self.position is other.position
        return (self.position, self.writer, self.step) == (other.position + 1, other.writer, other.step)


def _slot(state: State, id: int, offset: int) -> _Slot:
    context, writer = state.blocks[id].contexts[offset], state.blocks[id].writers[offset]
    if context is None or context == PENDING:
        return _Slot(None)
    tokens = state.contexts.tokens(context)
    return _Slot(len(tokens) - 1, tokens[-1], *(writer or ("?", -1)))


def _run(run: list[_Slot]) -> str:
    first = run[0]
    if first.position is None:
        return "nothing" if len(run) == 1 else f"nothing in {len(run)} slots"
    where = span(first.position, len(run)).removeprefix("positions ").removeprefix("position ")
    return f"{first.writer}'s {where}: {tokens_text([slot.token for slot in run])} (step {first.step})"


def _grouped(events: Iterable[object]) -> list[tuple[object, list[object]]]:
    groups: list[tuple[object, list[object]]] = []
    for event in events:
        if isinstance(event, Operation | str):
            groups.append((event, []))
        elif groups:
            groups[-1][1].append(event)
    return groups


_NOT_TOLD = (ev.EndStep, ev.Dispatch, ev.Complete)
"""The operation that leads to them says so."""
TELL: Mapping[type, Teller] = MappingProxyType(
    {
        **{kind: tell for kind in get_args(ev.Event) if kind not in _NOT_TOLD},
        ev.Start: lambda e, size: tell(e, size) if e.hit else "",
        ev.Observe: lambda e, _: published(e.published or ()),
    }
)
PAGED = Story(
    verbs=MappingProxyType({"begin": "dispatch", "end": "complete", "freeagain": "free2", "commit": "compute"}),
    tell=TELL,
    ghost=lambda state, violation: memory(state, violation.facts),
)
"""How what happens to a cache of blocks is told."""
