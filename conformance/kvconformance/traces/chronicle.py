"""The story behind a wrong event: what the request did, and who held, wrote and gave back the block before.

It is gathered by following the trace once more, when it is known which request and which block to look at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from kvconformance.history import History
from kvconformance.telling import story
from kvconformance.telling.output import visible
from kvconformance.traces.files import Header
from kvconformance.traces.judging import Judgement
from kvexamine.telling.paged import tell
from kvrefine.refinement import Evictions, Hidden, Observed, OneOf, Refuted, StartSomewhere, follow
from kvspec import events as ev
from kvspec.state import State
from kvspec.violation import HarnessFault, Tally

LONGEST: Final = 12
"""Lines of one story that are shown; of the earlier ones only their number."""


@dataclass(frozen=True)
class WrongEvent:
    """The first event that no compatible state allows, standing alone. `line` counts from 1 in the trace file."""

    rule: str
    sentence: str
    falls_with_it: tuple[str, ...]
    line: int
    event: str
    seen: str
    expected: str
    world: str
    request: str | None
    block: int | None
    request_story: tuple[str, ...]
    block_story: tuple[str, ...]
    ghost: tuple[str, ...]
    candidates: int
    """How many states were compatible with the events before."""

    def text(self) -> str:
        """The finding as a person reads it."""
        lines = [f"✗ {self.rule:<44} broken in line {self.line}", f"  {self.sentence}"]
        if self.falls_with_it:
            lines.append(f"  falls with it: {', '.join(self.falls_with_it)}")
        lines += ["", f"  world: {self.world}", "", f"       event     {self.event}"]
        lines += [f"       seen      {self.seen}", f"       expected  {self.expected}"]
        if self.candidates > 1:
            lines.append(
                f"       none of {self.candidates} compatible states allows it; told for that which got furthest"
            )
        for name, told in ((self.request, self.request_story), (f"block {self.block}", self.block_story)):
            if told:
                lines += ["", f"  the story of {name}", *(f"    {one}" for one in told)]
        lines += ["", *(f"       {line}" for line in self.ghost)]
        return "\n".join(map(visible, lines)).rstrip()

    def as_data(self) -> dict[str, Any]:
        """The finding as JSON data."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


def wrong_event(header: Header, events: Iterable[tuple[int, Observed]] | None, judgement: Judgement) -> WrongEvent:
    """Tell a judgement with its story; `events` are those that were judged, from the beginning.

    Without them, where a pipe brought more than is kept, the story says so.
    """
    refuted = judgement.refuted
    if refuted is None or judgement.last is None:
        raise HarnessFault("a judgement without a wrong event has no story")
    request, block = _named(refuted, judgement.last)
    about = _Stories(header.world.block_size, request, block)
    if events is None:
        about.request_story.lines.append("not told: more came through a pipe than is kept")
    else:
        about.follow(header, events, judgement.line)
    rule = refuted.rule
    history = History(operations=(), **msgspec.structs.asdict(header.world))
    return WrongEvent(
        rule=rule.id,
        sentence=rule.sentence,
        falls_with_it=tuple(other.id for other in rule.falls_with_it),
        line=judgement.line,
        event=_spell(judgement.last, header.world.block_size),
        seen=refuted.seen,
        expected=refuted.expected,
        world=story.stepped_world(history) if header.surface == "stepper" else story.world_line(history),
        request=request,
        block=block,
        request_story=about.request_story.told(),
        block_story=about.block_story.told(),
        ghost=tuple(story.memory(refuted.state, {"request": request, "block": block})),
        candidates=refuted.candidates,
    )


def _named(refuted: Refuted, event: Observed) -> tuple[str | None, int | None]:
    """The request and the block that the violation speaks of; failing that, the request of the event."""
    request = refuted.facts.get("request", getattr(event, "request", None))
    block = refuted.facts.get("block")
    known = isinstance(block, int) and 0 <= block < len(refuted.state.blocks)
    return (request if isinstance(request, str) else None), (block if known else None)  # type: ignore[return-value]


@dataclass
class _Story:
    """The newest lines, and how many there were."""

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LONGEST))
    count: int = 0

    def add(self, line: int, told: str) -> None:
        self.count += 1
        self.lines.append(f"line {line:<5} {told}")

    def told(self) -> tuple[str, ...]:
        """The lines, with a first one for those that are left out."""
        more = max(0, self.count - len(self.lines))
        return (f"({more} earlier events)", *self.lines) if more else tuple(self.lines)


class _Stories:
    """Follows a trace with an eye on one request and one block."""

    def __init__(self, block_size: int, request: str | None, block: int | None) -> None:
        self.block_size, self.request, self.block = block_size, request, block
        self.request_story, self.block_story = _Story(), _Story()

    def follow(self, header: Header, events: Iterable[tuple[int, Observed]], until: int) -> None:
        """Note what happens before line `until`, as the plainest compatible state has it."""
        states, tally = header.begin(), Tally()
        for line, event in events:
            if line >= until:
                break
            before = self.look(states.states[0])
            states = follow(states, event, tally)
            told = _spell(event, self.block_size)
            if self.request in _requests(event):
                self.request_story.add(line, told)
            if self.look(states.states[0]) != before:
                self.block_story.add(line, told)

    def look(self, state: State) -> object:
        """What can be seen of the block: its content and who holds it."""
        if self.block is None:
            return None
        block = state.blocks[self.block]
        return block.ref, block.key, list(block.contexts), list(block.writers), block.fence


def _requests(event: Observed) -> tuple[str | None, ...]:
    """The requests that an event names."""
    if isinstance(event, ev.Add):
        return (event.request.id,)
    if isinstance(event, ev.Fork):
        return (event.parent, event.child.id)
    if isinstance(event, OneOf):
        return tuple(name for course in event.courses for one in course for name in _requests(one))
    return (getattr(event, "request", None),) if hasattr(event, "request") else ()


def _spell(event: Observed, block_size: int) -> str:
    """An event in words, those that a report of operations leaves out included."""
    if isinstance(event, OneOf):
        courses = ["; ".join(_spell(one, block_size) for one in course) or "nothing" for course in event.courses]
        return f"one of: {' | '.join(courses)}"
    if isinstance(event, Evictions):
        return f"up to {event.most} idle blocks may be evicted"
    if isinstance(event, StartSomewhere):
        return f"{event.request} starts on a hit of {event.hit} tokens, in blocks that are not told"
    if isinstance(event, Hidden):
        return f"{event.request} computes {event.count} positions from {event.start} on, in blocks that are not told"
    return tell(event, block_size)
