"""Writing new keys and values by slot: each real row lands in its slot, and no other byte changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kvconformance.attention.placements import Placement, place
from kvconformance.attention.problems import Problem
from kvconformance.attention.surface import HEAD_MAJOR, AttentionCall, stored
from kvconformance.history import Attend, WriteRows
from kvreference.arrays import AnyArray, Float, Int
from kvreference.roundings import format_named, round_to
from kvspec import rules
from kvspec.numbers.schemes import IntegerCodes
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Violation, Waived

SIGNED_ZERO = 0x80
"""The code of minus zero in 8-bit floats."""

if TYPE_CHECKING:
    from kvconformance.attention.driver import AttentionDriver


def write(driver: AttentionDriver, operation: WriteRows) -> None:
    """Write rows to slots in no order, some of them padding (slot -1), with more rows of keys than slots."""
    if not hasattr(driver.engine, "write") or max(operation.slots, default=0) >= _slots(driver):
        return
    if not driver.capabilities.holds(operation.cache, operation.dtype, operation.heads[2]):
        return
    problem = _empty(driver, operation)
    call = place(problem, Placement(driver.world.num_blocks, driver.world.block_size, garbage=operation.seed))
    rows = _rows(operation, len(operation.slots) + operation.extra)
    slots = np.array(operation.slots, np.int64)
    wanted = _expected(problem, call, slots, rows)
    _count(driver, operation)
    try:
        driver.engine.write(call, slots, *(stored(x, operation.dtype) for x in rows))
    except (Violation, Waived, HarnessFault):
        raise
    except Exception as error:  # whatever a stranger's kernel raises is an answer to be judged
        seen = f"write raises {type(error).__name__}: {str(error)[:300]}"
        driver.tally.broken(rules.PADDING_WRITES_NOTHING, seen, "the rows in their slots")
        return
    for name, expected in wanted.items():
        off = _off(_plain(getattr(call, name), call.layout), expected, floats=_floats(problem, name))
        if off:
            _report(driver, operation, name, off)


def _slots(driver: AttentionDriver) -> int:
    return driver.world.num_blocks * driver.world.block_size


def _empty(driver: AttentionDriver, operation: WriteRows) -> Problem:
    """A cache in which nobody owns anything."""
    recipe = Attend(
        (), "plain", operation.seed, operation.heads, operation.dtype, operation.layout, cache=operation.cache
    )
    empty = np.zeros((0, operation.heads[1], operation.heads[2]))
    return replace(driver.problem(recipe), lengths=((0, 0),), keys=(empty,), values=(empty,))


def _rows(operation: WriteRows, count: int) -> tuple[Float, Float]:
    """Keys and values `[count, kv_heads, head_dim]`, exact in their dtype."""
    both = np.random.default_rng([operation.seed, count]).standard_normal((2, count, *operation.heads[1:]))
    both = both + 10 if operation.cache is None else both * 2
    return round_to(both[0], format_named(operation.dtype)), round_to(both[1], format_named(operation.dtype))


def _plain(pages: AnyArray, layout: str) -> AnyArray:
    """Token-major pages `[num_blocks, block_size, kv_heads, width]`."""
    return pages.transpose(0, 2, 1, 3) if layout == HEAD_MAJOR else pages


def _expected(problem: Problem, call: AttentionCall, slots: Int, rows: tuple[Float, Float]) -> dict[str, AnyArray]:
    """What is to stand in every array of the call that is written, token-major."""
    found = {}
    for which, (name, numbers) in enumerate(zip(("key", "value"), rows, strict=True)):
        side = None if problem.cache is None else problem.cache.sides[which]
        names = (f"{name}s", f"{name}_scales", f"{name}_zeros")
        parts = [stored(numbers, problem.dtype)] if side is None else list(side.stored(numbers))
        for array, part in zip(names, parts, strict=False):
            if part.shape[-1] and (side is None or side.one_code):
                found[array] = _after(_plain(getattr(call, array), call.layout), slots, part)
    return found


def _off(seen: AnyArray, expected: AnyArray, *, floats: bool) -> list[tuple[int, ...]]:
    """The places (block, offset) where something else stands; a zero of 8-bit floats may have either sign."""
    if floats:
        seen, expected = (np.where(x == SIGNED_ZERO, 0, x) for x in (seen, expected))
    return [tuple(place) for place in np.argwhere((seen != expected).any(axis=(2, 3))).tolist()]


def _floats(problem: Problem, name: str) -> bool:
    """Whether an array of a call holds codes that are 8-bit floats."""
    if problem.cache is None or name not in ("keys", "values"):
        return False
    return not isinstance(problem.cache.sides[name == "values"].scheme.codes, IntegerCodes)


def _after(pages: AnyArray, slots: Int, rows: AnyArray) -> AnyArray:
    after: AnyArray = pages.copy()
    size = pages.shape[1]
    for slot, row in zip(slots.tolist(), rows, strict=False):
        if slot >= 0:
            after[slot // size, slot % size] = row
    return after


def _count(driver: AttentionDriver, operation: WriteRows) -> None:
    driver.tally.met(rules.RELABEL_INVARIANCE)
    if operation.cache is not None and max(operation.slots, default=-1) >= 0:
        driver.tally.met(rules.HALF_STEP)
    if -1 in operation.slots or operation.extra:
        driver.tally.met(rules.PADDING_WRITES_NOTHING)


def _report(driver: AttentionDriver, operation: WriteRows, name: str, off: list[tuple[int, ...]]) -> None:
    size = driver.world.block_size
    slots = [block * size + offset for block, offset in off]
    stray = [slot for slot in slots if slot not in operation.slots]
    rule: Rule = rules.PADDING_WRITES_NOTHING if -1 in operation.slots or operation.extra else rules.RELABEL_INVARIANCE
    if operation.cache is not None and not stray:
        rule = rules.HALF_STEP if name in ("keys", "values") else rules.SCALE_TRAVELS
    seen = f"{name} of slots {slots[:6]} are wrong after a write to slots {list(operation.slots)}"
    expected = "a row in each slot that is not -1" + (f"; slot {stray[0]} was not written" if stray else "")
    driver.tally.broken(rule, seen, expected)
