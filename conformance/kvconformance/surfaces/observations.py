"""What an adapter of a Pool or a Stepper may say of itself, and where it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Protocol

from kvconformance.surfaces import records
from kvconformance.surfaces.answers import whole
from kvspec import events as ev
from kvspec.layout import Table, Tables
from kvspec.published import Published
from kvspec.violation import HarnessFault
from kvspec.vocabulary import BlockId, RequestId


class Observations(Protocol):
    """Optional self-descriptions, for both surfaces."""

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The reference count of every held block."""

    def tables(self) -> Mapping[RequestId, Table] | Mapping[RequestId, Tables]:
        """Every live block table; where there are several groups of layers, one for each of them."""

    def free_set(self) -> Sequence[BlockId]:
        """The ids that could be handed out, with repetitions if the engine has them."""

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""

    def counters(self) -> tuple[int, int]:
        """(tokens queried, tokens hit) so far."""

    def take_events(self) -> Sequence[Published]:
        """What the engine has published about its prefix cache since the last call, oldest first."""


class Observer:
    """Collects the self-descriptions that an engine offers."""

    def __init__(self, engine: Any, groups: int = 1) -> None:
        self._groups = groups
        self._free = engine.free_blocks
        self._refs = getattr(engine, "ref_counts", None)
        self._tables = getattr(engine, "tables", None)
        self._free_set = getattr(engine, "free_set", None)
        self._keyed = getattr(engine, "keyed_blocks", None)
        self._queues = getattr(engine, "queues", None)
        self._counters = getattr(engine, "counters", None)
        self._events = getattr(engine, "take_events", None)

    def observe(self) -> tuple[ev.Observe, ...]:
        """What the engine says now: all of it, then of each further group the tables, and the free blocks if told.

        Raises `HarnessFault` where an answer has not the type that its method promises.
        """
        first, *tables = self._told_tables()
        free, *more = self._told_free()
        others = enumerate(zip_longest(tables, more), 1)
        return (self._all(first, free), *(ev.Observe(tables=told, free=count, group=n) for n, (told, count) in others))

    def _told_free(self) -> Sequence[int]:
        """The free blocks; where each group has a pool of its own and they are told apart, those of each."""
        told = self._free()
        if self._groups == 1 or not isinstance(told, tuple):
            return [whole(told, "free_blocks")]
        if len(told) != self._groups:
            raise HarnessFault(f"free_blocks() tells of {len(told)} pools, not of {self._groups}")
        return [whole(count, "free_blocks") for count in told]

    def _told_tables(self) -> Sequence[Mapping[RequestId, Table] | None]:
        """By group, the tables; None where they are not told."""
        if self._tables is None:
            return [None]
        if self._groups == 1:
            return [records.tables(self._tables(), "tables")]
        return records.grouped_tables(self._tables(), "tables", self._groups)

    def _all(self, tables: Mapping[RequestId, Table] | None, free: int) -> ev.Observe:
        waiting, running = records.pair(self._queues(), "queues", records.names) if self._queues else (None, None)
        return ev.Observe(
            free=free,
            refs=records.counts(self._refs(), "ref_counts") if self._refs else None,
            tables=tables,
            free_set=records.listed(self._free_set(), "free_set") if self._free_set else None,
            keyed=records.blocks(self._keyed(), "keyed_blocks") if self._keyed else None,
            waiting=waiting,
            running=running,
            counters=records.pair(self._counters(), "counters", whole) if self._counters else None,
            published=records.published(self._events(), "take_events") if self._events else None,
        )
