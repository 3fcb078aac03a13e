"""Trace files: a header line, then one event per line, validated as they are read, because strangers write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Annotated, Any, Final, Literal, Self

import msgspec

from kvconformance.traces import wire
from kvrefine.refinement import MOST_STATES, Compatible, Observed, OneOf, compatible
from kvspec import events as ev
from kvspec.layout import Layout
from kvspec.violation import HarnessFault
from kvspec.vocabulary import BlockId, Capabilities, Request, World

LONGEST_LINE: Final = 8 << 20
"""Bytes."""
MOST_EVENTS: Final = 10_000_000
MOST_SLOTS: Final = 1 << 22
"""Blocks times block size: what the ghost memory of a world may hold."""
MOST_FOLLOWED: Final = 1 << 24
"""Blocks and slots of all compatible states together: in large worlds fewer of them are followed."""
KEPT_IN_MEMORY: Final = 4 << 20
"""Bytes of a pipe; what else is kept of it lies in a temporary file."""
MOST_KEPT: Final = 1 << 30
"""Bytes kept of a pipe, so that it can be read again."""

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=1 << 40)]


class TraceError(ValueError):
    """The file is no trace; the message names the line."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}" if line else why)
        self.line = line


class WrittenWorld(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The configuration of the engine; sizes in tokens unless named blocks."""

    num_blocks: Positive
    block_size: Positive
    token_budget: Positive = 1 << 30
    max_running: Positive = 1 << 30
    policy: wire.Text = "fcfs"
    caching: bool = True
    preemption: Literal["recompute", "swap"] = "recompute"
    options: dict[wire.Text, wire.Number | wire.Text | bool | float | None] = {}


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The freedoms of the specification that the engine uses: those capabilities that judging asks for."""

    reserved_blocks: tuple[Count, ...] = ()
    publishes: Literal["computed", "scheduled"] = "computed"
    lookahead_blocks: Count = 0
    remaps_duplicates: bool = False
    watermark_blocks: Count = 0
    preemptions: tuple[Literal["recompute", "swap"], ...] = ("recompute",)
    orders_steps: bool = False
    orders_transfers: bool = False
    counts_copies: bool = False
    hides_lost_takes: bool = False
    states: Literal["every", "last"] = "every"
    drafts_ahead: bool = False
    idle_steps: Count = 0
    profiles: tuple[Literal["fcfs", "lru", "tail-first", "decode-first", "longest-hit"], ...] = ()


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line. All but the first three may be left out."""

    format: Literal["kvspec trace"]
    version: Literal[1]
    world: WrittenWorld
    engine: wire.Text = "unknown"
    engine_version: wire.Text = "unknown"
    surface: Literal["stepper", "pool"] = "stepper"
    nameless: bool = False
    """No event names a block: the log tells none."""
    capabilities: Declared = Declared()
    command: wire.Text = ""

    @classmethod
    def of(cls, world: World, capabilities: Capabilities, **about: str) -> Header:
        """The header for an engine that is built for a world and declares capabilities."""
        declared = {name: _plain(getattr(capabilities, name)) for name in Declared.__struct_fields__}
        written = {name: _plain(getattr(world, name)) for name in WrittenWorld.__struct_fields__}
        return cls("kvspec trace", 1, WrittenWorld(**written), capabilities=Declared(**declared), **about)  # type: ignore[arg-type]

    def begin(self, most: int = MOST_STATES) -> Compatible:
        """Where the engine begins: at most so many compatible states are followed, fewer of a large world."""
        size = self.world.num_blocks * (1 + self.world.block_size)
        return compatible(*self.built(), max(1, min(most, MOST_FOLLOWED // size)), nameless=self.nameless)

    def built(self) -> tuple[World, Capabilities]:
        """The world and what the engine declares."""
        given: dict[str, Any] = msgspec.structs.asdict(self.capabilities)
        given["reserved_blocks"] = frozenset(BlockId(id) for id in self.capabilities.reserved_blocks)
        given["profiles"] = frozenset(self.capabilities.profiles)
        return World(**msgspec.structs.asdict(self.world)), Capabilities(**given)


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return tuple(sorted(value))
    return dict(value) if hasattr(value, "items") else value


class Trace:
    """A trace that is being read, once: its header, and an iterator of (line number, event).

    A context manager, and `again` reads it from the beginning. What cannot be read twice, such as a pipe, is kept as it
    comes: `KEPT_IN_MEMORY` bytes in memory and up to `MOST_KEPT` in a temporary file.
    """

    def __init__(self, file: IO[bytes]) -> None:
        seekable = file.seekable()
        self._file, self._begin = file, file.tell() if seekable else 0
        self._kept: IO[bytes] | None = None if seekable else SpooledTemporaryFile(KEPT_IN_MEMORY)  # noqa: SIM115 # closed with the trace
        self._whole = True
        lines = _lines(file, self._keep)
        self.header = _header(*next(lines, (1, b"")))
        self.events = _events(lines, self.header.nameless)

    def _keep(self, line: bytes) -> None:
        if self._kept is None or not self._whole:
            return
        self._kept.write(line)
        if self._kept.tell() > MOST_KEPT:
            self._kept.close()
            self._whole = False

    def again(self) -> Iterator[tuple[int, Observed]] | None:
        """The events from the first one on, as far as they were read; None where too much came through a pipe."""
        if not self._whole:
            return None
        file = self._kept or self._file
        file.seek(self._begin)
        lines = _lines(file, lambda line: None)
        next(lines)
        return _events(lines, self.header.nameless)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._file, self._kept):
            if file is not None:
                file.close()


def open_trace(source: Path | IO[bytes]) -> Trace:
    """Read the header of a file, or of what is open; events are read as they are asked for.

    Raises `TraceError`, now or then.
    """
    try:
        file = source.open("rb") if isinstance(source, Path) else source
    except OSError as error:
        raise TraceError(0, f"cannot read {source}: {error.strerror}") from error
    try:
        return Trace(file)
    except BaseException:
        file.close()
        raise


def write_trace(path: Path, header: Header, events: Iterable[Observed]) -> int:
    """Write a trace; returns how many events it has. `OSError` passes."""
    count = 0
    with path.open("wb") as file:
        file.write(msgspec.json.encode(header) + b"\n")
        for event in events:
            file.write(wire.encode(event) + b"\n")
            count += 1
    return count


def _lines(file: IO[bytes], keep: Callable[[bytes], None]) -> Iterator[tuple[int, bytes]]:
    for number in range(1, MOST_EVENTS + 2):
        try:
            line = file.readline(LONGEST_LINE + 1)
        except OSError as error:
            raise TraceError(number, f"cannot read it: {error.strerror}") from error
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise TraceError(number, f"longer than {LONGEST_LINE} bytes")
        keep(line)
        yield number, line
    raise TraceError(MOST_EVENTS + 2, f"more than {MOST_EVENTS} events")


def _events(lines: Iterator[tuple[int, bytes]], nameless: bool) -> Iterator[tuple[int, Observed]]:
    for number, line in lines:
        try:
            event = wire.decode(line)
        except ValueError as error:
            raise TraceError(number, _blame(line, f"no event: {error}")) from error
        if nameless and _names_blocks(event):
            raise TraceError(number, f"{type(event).__name__} names a block in a trace that is nameless")
        for request in _requests(event):
            if not request.prompt:
                raise TraceError(number, f"request {request.id} has an empty prompt")
            if request.max_new_tokens < 0:
                raise TraceError(number, f"request {request.id} asks for {request.max_new_tokens} new tokens")
        yield number, event


def _requests(event: Observed) -> Iterator[Request]:
    """The requests that come with an event."""
    if isinstance(event, OneOf):
        yield from (request for course in event.courses for one in course for request in _requests(one))
    elif isinstance(event, ev.Add):
        yield event.request
    elif isinstance(event, ev.Fork):
        yield event.child


_NAMING: Final = (ev.Reserve, ev.Compute, ev.Waste, ev.Copy, ev.Remap, ev.Fork, ev.SwapIn)
"""Events that always name a block; others do by the fields below."""


def _names_blocks(event: Observed) -> bool:
    """Whether the event tells the name of any block."""
    if isinstance(event, OneOf):
        return any(_names_blocks(one) for course in event.courses for one in course)
    if isinstance(event, ev.Observe):
        return any(told is not None for told in (event.refs, event.tables, event.free_set, event.keyed))
    if isinstance(event, ev.Start | ev.Lookup):
        return bool(event.blocks)
    return isinstance(event, _NAMING) or (isinstance(event, ev.Refuse) and bool(event.hit))


def _header(number: int, line: bytes) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise TraceError(number, _blame(line, f"no header of a kvspec trace: {why}")) from error
    world, declared = header.world, header.capabilities
    try:
        layout = Layout.of(header.built()[0])
    except HarnessFault as fault:
        raise TraceError(number, str(fault)) from fault
    size = max(group.block_size for group in layout.groups)
    if world.num_blocks * max(world.block_size, size) * layout.num_pools > MOST_SLOTS:
        raise TraceError(number, f"{world.num_blocks} blocks of {size} tokens; at most {MOST_SLOTS} slots")
    if header.nameless and layout.several:
        raise TraceError(number, "nameless blocks in several groups of layers; tell the tables of each")
    if strange := [id for id in declared.reserved_blocks if id >= world.num_blocks]:
        raise TraceError(number, f"the reserved block {strange[0]} is none of {world.num_blocks}")
    if len({*declared.reserved_blocks}) == world.num_blocks:
        raise TraceError(number, f"all {world.num_blocks} blocks are reserved")
    longest = world.options.get("max_model_len", 1)
    if longest is not None and (not isinstance(longest, int) or isinstance(longest, bool) or longest < 1):
        raise TraceError(number, f"max_model_len is {longest!r}; it is a number of tokens, at least 1")
    if declared.hides_lost_takes and "lru" in declared.profiles:
        raise TraceError(number, "the profile lru with takes that are hidden; show them or withdraw lru")
    return header


def _blame(line: bytes, why: str) -> str:
    if not line.strip():
        return "empty"
    return why if line.endswith(b"\n") else f"{why}; the file ends within this line"
