"""The ghost contents: writing the positions of a step into their slots, and reading what the request attends to."""

from __future__ import annotations

from kvspec import events as ev
from kvspec import rules
from kvspec.layout import Group
from kvspec.needs import Run, runs, slots_after, writes
from kvspec.state import PENDING, Live, State
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


def write(state: State, tally: Tally, live: Live, number: int, first: int, last: int, event: ev.Compute) -> None:
    """Write the slots of a group from `first` to `last`; the block of each must be the writer's alone.

    Of a recurrence that is written to every entry, and of a drafter that runs ahead of the tokens that are known, what
    nobody reads again need not be kept.

    Raises alloc/coverage-and-limit, and what `_write_told` and `_write_run` raise.
    """
    group = state.layout.groups[number]
    if number == 0 and event.slots is not None:
        if len(event.slots) != event.count:
            count, slots = event.count, len(event.slots)
            tally.fail(rules.COVERAGE_AND_LIMIT, "slots", request=event.request, count=count, slots=slots)
        _write_told(state, tally, live, event.start, event.slots)
        return
    for run in runs(group, writes(group, first, last)):
        if not group.recurs:
            _write_run(state, tally, live, number, run)
        elif run.stop == last or state.capabilities.states == "every":
            _write_run(state, tally, live, number, run, must=run.stop == last)
    if group.drafts and state.capabilities.drafts_ahead:
        # Of the tokens to come the step samples one, from which it drafts what the next step, if any, reads.
        goes_on = live.generated + 1 < live.request.max_new_tokens
        end = event.start + event.count
        for slot in range(max(last, first), end):
            run = Run(slot // group.block_size, slot % group.block_size, slot, slot + 1)
            _write_run(state, tally, live, number, run, must=goes_on and slot + group.lag == end)


def _write_told(state: State, tally: Tally, live: Live, start: int, slots: tuple[ev.Slot, ...]) -> None:
    """Write positions from `start` on into the slots that the engine tells.

    Raises what `_require_slot` and `_require_sole_owner` raise.
    """
    touched: set[BlockId] = set()
    for position, (id, offset) in enumerate(slots, start):
        _require_slot(state, tally, live, id, offset, position)
        if id not in touched:
            touched.add(id)
            _require_sole_owner(state, tally, live, 0, id, position)
        block = state.blocks[id]
        block.contexts[offset] = live.contexts[position]
        block.writers[offset] = (live.request.id, state.step)
        block.epoch = state.epoch


def _write_run(state: State, tally: Tally, live: Live, number: int, run: Run, *, must: bool = True) -> None:
    """Write slots of one entry; without a block only where they need not be kept.

    Raises alloc/coverage-and-limit, and what `_require_sole_owner` raises.
    """
    group, table = state.layout.groups[number], live.tables[number]
    id, size = table[run.entry] if run.entry < len(table) else None, run.stop - run.first
    if id is None:
        if must:
            tally.met(rules.COVERAGE_AND_LIMIT)
            position = run.first + group.lag
            tally.fail(rules.COVERAGE_AND_LIMIT, "no slot", request=live.request.id, group=number, position=position)
        return
    _require_sole_owner(state, tally, live, number, id, run.first + group.lag)
    block = state.blocks[id]
    block.contexts[run.offset : run.offset + size] = _contexts(live, group, run)
    block.writers[run.offset : run.offset + size] = [(live.request.id, state.step)] * size
    block.epoch = state.epoch


def spoil(state: State, tally: Tally, live: Live, number: int, first: int, last: int) -> None:
    """Write slots of a group from `first` to `last` that are nobody's, where there are blocks: the writer's alone.

    Raises what `_require_sole_owner` raises.
    """
    group, table = state.layout.groups[number], live.tables[number]
    for run in runs(group, writes(group, first, last)):
        id, size = table[run.entry] if run.entry < len(table) else None, run.stop - run.first
        if id is not None:
            _require_sole_owner(state, tally, live, number, id, run.first + group.lag)
            block = state.blocks[id]
            block.contexts[run.offset : run.offset + size] = [None] * size
            block.writers[run.offset : run.offset + size] = [(live.request.id, state.step)] * size


def _contexts(live: Live, group: Group, run: Run) -> list[int]:
    """What the slots stand for; pending where a token is not told yet."""
    known = live.contexts[run.first + group.lag : run.stop + group.lag]
    return known + [PENDING] * (run.stop - run.first - len(known))


def _require_slot(state: State, tally: Tally, live: Live, id: BlockId, offset: int, position: int) -> None:
    """The slot to which a position is written exists.

    Raises alloc/coverage-and-limit.
    """
    tally.met(rules.COVERAGE_AND_LIMIT)
    size = state.layout.groups[0].block_size
    if not (0 <= id < len(state.blocks) and 0 <= offset < size):
        facts = {"id": id, "slot": offset, "position": position, "size": size}
        tally.fail(rules.COVERAGE_AND_LIMIT, "slot", request=live.request.id, **facts)


def _require_sole_owner(state: State, tally: Tally, live: Live, number: int, id: BlockId, position: int) -> None:
    """The block to which a position is written is in no other table.

    Raises prefix/shared-bytes-never-change.
    """
    tally.met(rules.SHARED_BYTES_NEVER_CHANGE)
    if state.blocks[id].ref != 1 or id not in live.tables[number]:
        facts = {"request": live.request.id, "position": position, "group": number}
        tally.fail(rules.SHARED_BYTES_NEVER_CHANGE, "written", block=id, **facts)


def read(state: State, tally: Tally, live: Live, number: int, slots: range) -> None:
    """Read slots of a group through its table: each is held, and holds the request's own context.

    What a drafter lacks costs no token.

    Raises prefix/every-group-hit, prefix/shared-bytes-never-change, prefix/draft-group-hit.
    """
    group, table, who = state.layout.groups[number], live.tables[number], live.request.id
    drafts, lag, contexts = group.drafts, group.lag, live.contexts
    if drafts:
        tally.met(rules.DRAFT_GROUP_HIT)
    for index, offset, first, stop in runs(group, slots):
        id = table[index] if index < len(table) else None
        if id is None:
            if drafts:
                tally.fail(rules.DRAFT_GROUP_HIT, "lacks", request=who, group=number, index=index)
            else:
                tally.fail(rules.EVERY_GROUP_HIT, "lacks", request=who, group=number, index=index)
            continue
        held = state.blocks[id].contexts[offset : offset + stop - first]
        own = contexts[first + lag : stop + lag]
        if held != own and (wrong := live.first_strange(held, first + lag)) is not None:
            facts = {"slot": offset + wrong, "position": first + lag + wrong, "group": number}
            if drafts:
                tally.fail(rules.DRAFT_GROUP_HIT, "read", request=who, block=id, **facts)
            else:
                tally.fail(rules.SHARED_BYTES_NEVER_CHANGE, "read", request=who, block=id, **facts)


def catch_up(state: State, live: Live) -> None:
    """A drafter that runs ahead has used the token in the step that sampled it: what it has written is told."""
    for number, (group, table) in enumerate(zip(state.layout.groups, live.tables, strict=True)):
        if not group.drafts:
            continue
        first = live.filled[number]
        last = slots_after(group, live.computed, len(live.tokens), ahead=True)
        for run in runs(group, range(first, last)):
            id = table[run.entry] if run.entry < len(table) else None
            for offset, context in enumerate(_contexts(live, group, run), run.offset):
                if id is not None and (writer := state.blocks[id].writers[offset]) and writer[0] == live.request.id:
                    state.blocks[id].contexts[offset] = context
        live.filled[number] = max(first, last)
