"""Judging a hit: whether its length is valid for every group at once, and the longest that would have been."""

from __future__ import annotations

from dataclasses import dataclass

from kvspec import rules
from kvspec.groups.needs import Slot, read_below
from kvspec.groups.state import Block, Live, State
from kvspec.groups.vocabulary import Group, Kind, Table, Tables
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import BlockId


@dataclass(frozen=True, slots=True)
class Wrong:
    """A slot that a query behind the hit would read and that is not right: `said` of group `number`."""

    number: int
    slot: Slot
    block: BlockId | None
    said: str
    filled: bool = True
    unfinished: bool = False


def check_hit(state: State, tally: Tally, live: Live, hit: int, tables: Tables) -> None:
    """Require that every group may go on from `hit` tokens, with what `tables` hold of the tokens before."""
    tally.require(
        hit < len(live.tokens),
        rules.ONE_TOKEN_LEFT,
        lambda: (f"{live.request.id} hits {hit} of its {len(live.tokens)} tokens", "one token is left to compute"),
        request=live.request.id,
    )
    if hit:
        for rule in (rules.EVERY_GROUP_HIT, rules.CONTENT_MATCHES_KEY, rules.PUBLISH_ONLY_COMPUTED):
            tally.met(rule)
        if any(group.kind is Kind.DRAFT for group in state.layout.groups):
            tally.met(rules.DRAFT_GROUP_HIT)
        _check_units(state, tally, live, hit)
        found = [_wrong(state, live, number, hit, table) for number, table in enumerate(tables)]
        _blame(state, tally, live, [wrong for wrong in found if wrong is not None])
    _check_longest(state, tally, live, hit)


def _check_units(state: State, tally: Tally, live: Live, hit: int) -> None:
    for group in state.layout.groups:
        if hit % group.block_size:
            seen = f"{live.request.id} hits {hit} tokens, which is no whole number of blocks in the group {group}"
            tally.broken(rules.EVERY_GROUP_HIT, seen, f"a multiple of {group.block_size}", request=live.request.id)


def _wrong(state: State, live: Live, number: int, hit: int, table: Table) -> Wrong | None:
    """The first slot of a group that a query behind the hit would read and that does not hold its context."""
    for slot in read_below(state.layout.groups[number], hit):
        id = table[slot.index] if slot.index < len(table) else None
        if id is None:
            return Wrong(number, slot, None, f"has no block for entry {slot.index}", filled=False)
        held = _held(state, number, id)
        if held is None:
            return Wrong(number, slot, id, f"names block {id}, which is no block of the group", filled=False)
        context = held.contexts[slot.offset]
        if not live.owns(slot.position, context):
            return Wrong(number, slot, id, f"finds {_told(state, context)} in block {id} slot {slot.offset}")
        if state.capabilities.publishes == "computed" and state.in_flight(held.writers[slot.offset]):
            said = f"finds block {id}, which a step in flight still computes,"
            return Wrong(number, slot, id, said, unfinished=True)
    return None


def _held(state: State, number: int, id: BlockId) -> Block | None:
    pool = state.pools[state.layout.pool_of(number)]
    return pool[id] if 0 <= id < len(pool) and pool[id].owner == number else None


def _blame(state: State, tally: Tally, live: Live, found: list[Wrong]) -> None:
    """Report the first wrong group, a drafter last: what it lacks costs no token."""
    groups = state.layout.groups
    for wrong in sorted(found, key=lambda each: groups[each.number].kind is Kind.DRAFT):
        group = groups[wrong.number]
        seen = (
            f"{live.request.id}'s hit {wrong.said} in group {wrong.number} ({group}), "
            f"which needs that of its tokens up to position {wrong.slot.position}"
        )
        facts = {"request": live.request.id, "group": wrong.number, "block": wrong.block}
        tally.broken(_rule(state, wrong, found), seen, "every group can go on from the hit", **facts)


def _rule(state: State, wrong: Wrong, found: list[Wrong]) -> Rule:
    """A key that is wrong in every group is not a matter of groups."""
    if wrong.unfinished:
        return rules.PUBLISH_ONLY_COMPUTED
    if state.layout.groups[wrong.number].kind is Kind.DRAFT:
        return rules.DRAFT_GROUP_HIT
    everywhere = len(found) == len(state.layout.groups) and all(each.filled for each in found)
    return rules.CONTENT_MATCHES_KEY if everywhere else rules.EVERY_GROUP_HIT


def _told(state: State, context: int | None) -> str:
    if context is None:
        return "nothing"
    return f"the context of ({' '.join(map(str, state.contexts.tokens(context)))})"


def _check_longest(state: State, tally: Tally, live: Live, hit: int) -> None:
    """Profile: no longer length would have been valid for all groups."""
    if "longest-hit" not in state.capabilities.profiles or not state.world.caching:
        return
    longest = longest_hit(state, live)
    if longest or hit:
        tally.met(rules.LONGEST_GROUP_HIT)
    if longest > hit:
        seen = f"{live.request.id} hits {hit} tokens while every group holds what a hit of {longest} needs"
        tally.broken(rules.LONGEST_GROUP_HIT, seen, f"a hit of {longest}", request=live.request.id)


def longest_hit(state: State, live: Live) -> int:
    """The longest hit for which every group has whole, computed blocks, whoever holds them, or 0."""
    unit = state.layout.unit
    for hit in range((len(live.tokens) - 1) // unit * unit, 0, -unit):
        if all(_findable(state, live, number, group, hit) for number, group in enumerate(state.layout.groups)):
            return hit
    return 0


def _findable(state: State, live: Live, number: int, group: Group, hit: int) -> bool:
    pool = state.pools[state.layout.pool_of(number)]
    for index in {slot.index for slot in read_below(group, hit)}:
        last = (index + 1) * group.block_size - 1 + group.lag
        if last >= len(live.contexts):
            return False
        if not any(block.owner == number and _whole(state, block, live.contexts[last]) for block in pool):
            return False
    return True


def _whole(state: State, block: Block, last: int) -> bool:
    """Whether all slots of a block are computed, and the last one holds the context `last`."""
    if block.contexts[-1] != last or None in block.contexts:
        return False
    return not any(state.in_flight(step) for step in block.writers)
