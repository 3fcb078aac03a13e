"""Judging what an engine with several groups says of itself: free counts, tables, reference counts."""

from __future__ import annotations

from collections.abc import Sized

from kvspec import rules
from kvspec.groups import events as ev
from kvspec.groups.state import State
from kvspec.groups.vocabulary import Free, Held, Tables
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Tally
from kvspec.vocabulary import BlockId


def observe(state: State, event: ev.Observe, tally: Tally) -> None:
    """Require that every claim in `event` agrees with the state."""
    for id, tables in (event.tables or {}).items():
        _tables(state, str(id), tables, tally)
    if event.refs is not None:
        _require_all(event.refs, state.pools, "pools with reference counts")
        for pool, refs in enumerate(event.refs):
            _refs(state, pool, refs, tally)
    if event.free is not None:
        _free(state, event.free, tally)


def _require_all(told: Sized, right: Sized, what: str) -> None:
    if len(told) != len(right):
        raise HarnessFault(f"{what}: {len(told)} are told of {len(right)}")


def _tables(state: State, who: str, tables: Tables, tally: Tally) -> None:
    live = next((live for live in state.requests.values() if live.request.id == who), None)
    rule = _table_rule(state, here=live is not None)
    tally.met(rule)
    ours = live.tables if live else [[] for _ in state.layout.groups]
    said = tables or ((),) * len(ours)
    _require_all(said, ours, f"tables of {who}")
    for number, (theirs, table) in enumerate(zip(said, ours, strict=True)):
        if list(theirs) != table:
            seen = f"the table of {who} in group {number} is {list(theirs)}"
            tally.broken(rule, seen, f"{table}", request=who, group=number)


def _table_rule(state: State, *, here: bool) -> Rule:
    if state.last == "refusal":
        return rules.FAILURE_IS_ATOMIC
    return rules.NO_DANGLING_REFERENCE if here else rules.EVERY_EXIT_RELEASES


def _free(state: State, free: Free, tally: Tally) -> None:
    expected = state.free()
    _require_all(free, expected, "pools with free blocks")
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    tally.met(rules.CONSERVATION)
    if state.last == "refusal":
        tally.met(rules.FAILURE_IS_ATOMIC)
    if state.last == "exit":
        tally.met(rules.EVERY_EXIT_RELEASES)
    for pool, (said, right) in enumerate(zip(free, expected, strict=True)):
        if said != right:
            seen = f"{said} blocks of pool {pool} are said to be free while {state.usable - right} are held"
            tally.broken(_miscounted(state, said > right), seen, f"{right} free", pool=pool)


def _miscounted(state: State, too_many: bool) -> Rule:
    if state.last == "refusal":
        return rules.FAILURE_IS_ATOMIC
    if too_many:
        return rules.COUNT_EQUALS_HOLDERS
    return rules.EVERY_EXIT_RELEASES if state.last == "exit" else rules.CONSERVATION


def _refs(state: State, pool: int, refs: Held, tally: Tally) -> None:
    tally.met(rules.COUNT_EQUALS_HOLDERS)
    for strange in sorted(refs.keys() - range(len(state.pools[pool]))):
        seen = f"block {strange} of pool {pool} is counted"
        tally.broken(rules.NO_DANGLING_REFERENCE, seen, f"ids 0 to {len(state.pools[pool]) - 1}", block=strange)
    for number, block in enumerate(state.pools[pool]):
        counted = refs.get(BlockId(number), 0)
        if counted != block.ref:
            rule = rules.FAILURE_IS_ATOMIC if state.last == "refusal" else rules.COUNT_EQUALS_HOLDERS
            seen = f"block {number} of pool {pool} counts {counted} references"
            tally.broken(rule, seen, f"its {block.ref} holders", block=number)
