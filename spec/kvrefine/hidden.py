"""Events of which a part is hidden, and the courses of plain events that each may stand for in a given state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice, permutations, product

from kvrefine.footprint import kind
from kvspec import events as ev
from kvspec.blame import Judged, judge
from kvspec.rules import CONTIGUOUS_CHAIN
from kvspec.state import Live, State
from kvspec.transition.blocks import deeper
from kvspec.transition.guards import live_of
from kvspec.violation import HarnessFault, Tally, Violation
from kvspec.vocabulary import BlockId, RequestId


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these courses of events was taken; which one is not told. An empty course: nothing happened.

    What the engine says of itself is shown, not hidden: no course holds an `Observe` (`ValueError`).
    """

    courses: tuple[tuple[ev.Event, ...], ...]

    def __post_init__(self) -> None:
        if not self.courses or any(isinstance(event, ev.Observe) for course in self.courses for event in course):
            raise ValueError("a hidden choice is among one or more courses, none of which is an observation")


@dataclass(frozen=True, slots=True)
class StartSomewhere:
    """A `Start` that does not tell the blocks of its hit: any that hold the request's own tokens."""

    request: RequestId
    hit: int = 0


@dataclass(frozen=True, slots=True)
class ComputeSomewhere:
    """A `Compute` that does not tell the table: the blocks by which it grew may be any."""

    request: RequestId
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Evictions:
    """Up to `most` idle blocks may have lost what they held; which ones is not told."""

    most: int


Hidden = OneOf | StartSomewhere | ComputeSomewhere | Evictions
Observed = ev.Event | Hidden
"""What a trace can hold: an event of the algebra, or one of which a part is hidden."""


@dataclass(frozen=True, slots=True)
class Lost:
    """These idle blocks lose what they hold. It is no event: only a hidden choice leads to it.

    `owed` are the blocks that must have been taken before them: they must be gone when the step ends.
    """

    blocks: tuple[BlockId, ...]
    owed: frozenset[BlockId] = frozenset()


Course = tuple[ev.Event | Lost, ...]


@dataclass(slots=True)
class Candidate:
    """A state in which the engine may be, if the `owed` blocks turn out to be taken in the step that is planned."""

    judged: Judged
    owed: frozenset[BlockId] = frozenset()

    @property
    def state(self) -> State:
        """The state in which the engine may be."""
        return self.judged.state

    def copy(self) -> Candidate:
        """An independent copy."""
        return Candidate(self.judged.copy(), self.owed)


def courses(state: State, event: Observed, loses_takes: bool, nameless: bool) -> Iterable[Course]:
    """Every course that the event may stand for in this state, the plainest first, at least one.

    With `loses_takes`, a victim may before its preemption have taken idle blocks unseen and given them back. With
    `nameless`, no event names a block, and of courses that differ in names there is one.
    """
    if isinstance(event, OneOf):
        return event.courses
    if state.layout.several and isinstance(event, StartSomewhere | ComputeSomewhere):
        raise HarnessFault(f"{event.request} has no table told, and there are several groups of layers: tell them all")
    if isinstance(event, StartSomewhere):
        return _hits(state, event)
    if isinstance(event, ComputeSomewhere):
        return _tables(state, event, nameless)
    if isinstance(event, Evictions):
        return ((Lost(blocks),) for blocks in _choices(state, event.most, nameless))
    if loses_takes and isinstance(event, ev.Preempt):
        most = _unseen_takes(state, live_of(state, event.request))
        return ((Lost(blocks, _before(state, blocks)), event) for blocks in _choices(state, most))
    return ((event,),)


def play(candidate: Candidate, course: Course, tally: Tally) -> tuple[int, Violation | None]:
    """Live through a course in place: how many of its events were allowed, and what ended it."""
    for done, event in enumerate(course):
        try:
            if isinstance(event, Lost):
                _lose(candidate, event)
                continue
            if isinstance(event, ev.EndStep) and candidate.owed:
                _settle(candidate, tally)
            judge(candidate.judged, event, tally)
        except Violation as violation:
            return done, violation
    return len(course), None


def _hits(state: State, event: StartSomewhere) -> Iterator[Course]:
    """The event with every chain of blocks that hold the tokens of the hit; with none, for the guards to judge."""
    live, size = live_of(state, event.request), state.world.block_size
    if event.hit > len(live.contexts):
        yield (ev.Start(event.request, event.hit),)
        return
    chunks = [live.contexts[start : start + size] for start in range(0, max(event.hit, 0), size)]
    places = [[BlockId(id) for id, block in enumerate(state.blocks) if block.contexts == chunk] for chunk in chunks]
    for blocks in product(*places) if all(places) else ((),):
        yield (ev.Start(event.request, event.hit, blocks),)


def _tables(state: State, event: ComputeSomewhere, nameless: bool) -> Iterator[Course]:
    """The event with every table that has a slot for its positions; at least one, for the guards to judge."""
    table = tuple(live_of(state, event.request).table)
    need = max(0, state.world.blocks_for(event.start + event.count) - len(table))
    spare = state.capabilities.lookahead_blocks
    idle = tuple(state.free)
    if need > len(idle):
        yield (ev.Compute(event.request, event.start, event.count, table + idle),)
        return
    sizes = range(need, min(need + spare, len(idle)) + 1)
    take = _of_each_kind if nameless else _in_each_order
    if "lru" in state.capabilities.profiles:
        take = _longest_idle
    for new in chain.from_iterable(take(state, size) for size in sizes):
        yield (ev.Compute(event.request, event.start, event.count, table + new),)


def _longest_idle(state: State, size: int) -> Iterable[tuple[BlockId, ...]]:
    """An engine that promises this order has no other choice."""
    return (tuple(islice(state.free, size)),)


def _in_each_order(state: State, size: int) -> Iterable[tuple[BlockId, ...]]:
    return permutations(state.free, size)


def _of_each_kind(state: State, size: int, among: Iterable[BlockId] | None = None) -> Iterator[tuple[BlockId, ...]]:
    """Choices of idle blocks that differ in more than names; a block that is taken forgets its place among them."""
    kinds: dict[object, list[BlockId]] = {}
    for id in state.free if among is None else among:
        kinds.setdefault(kind(state, id), []).append(id)
    places = {id: place for place, id in enumerate(state.free)}
    for new in _shares(list(kinds.values()), size):
        yield tuple(sorted(new, key=places.__getitem__))


def _shares(groups: Sequence[Sequence[BlockId]], size: int) -> Iterator[tuple[BlockId, ...]]:
    """Every way to take so many from groups of equals, as the first ones of each group: one for each set of counts."""
    if not groups:
        if size == 0:
            yield ()
        return
    first, rest = groups[0], groups[1:]
    most, least = min(size, len(first)), max(0, size - sum(map(len, rest)))
    for count in range(most, least - 1, -1):
        for others in _shares(rest, size - count):
            yield (*first[:count], *others)


def _unseen_takes(state: State, live: Live) -> int:
    """Most blocks that a step can have given to the request before it was preempted in the same step."""
    count = min(state.world.token_budget, len(live.tokens) - live.computed)
    wanted = state.world.blocks_for(live.computed + count) + state.capabilities.lookahead_blocks
    return max(0, wanted - len(live.table))


def _choices(state: State, most: int, nameless: bool = False) -> Iterator[tuple[BlockId, ...]]:
    """Every choice of at most so many idle blocks that hold something, none first."""
    full = [id for id in state.free if any(context is not None for context in state.blocks[id].contexts)]
    sizes = range(max(0, min(most, len(full))) + 1)
    if nameless:
        return chain.from_iterable(_of_each_kind(state, size, full) for size in sizes)
    return chain.from_iterable(combinations(full, size) for size in sizes)


def _before(state: State, blocks: tuple[BlockId, ...]) -> frozenset[BlockId]:
    """The idle blocks that an engine evicts before these, where it promises to evict the tail of a chain first."""
    if "tail-first" not in state.capabilities.profiles:
        return frozenset()
    cached = (id for id in blocks if state.blocks[id].key is not None)
    return frozenset(other for id in cached for other in deeper(state, id) if other not in blocks)


def _lose(candidate: Candidate, lost: Lost) -> None:
    """Forget what idle blocks hold. The order of takes that nobody saw is judged when their step ends."""
    candidate.judged.past.lose(candidate.state, lost.blocks)
    for id in lost.blocks:
        candidate.state.blocks[id].poison()
    candidate.state.shown = candidate.state.kept = None
    candidate.owed |= lost.owed


def _settle(candidate: Candidate, tally: Tally) -> None:
    """What had to be taken before a block that was lost unseen was indeed taken in the same step."""
    state = candidate.state
    kept = [id for id in candidate.owed if id in state.free and state.blocks[id].key is not None]
    tally.met(CONTIGUOUS_CHAIN)
    if kept:
        seen = f"a block that a victim took unseen was evicted before block {kept[0]} behind it"
        tally.broken(CONTIGUOUS_CHAIN, seen, "tails go first", block=kept[0])
    candidate.owed = frozenset()
