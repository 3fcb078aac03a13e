"""Writing new keys and values by slot: each real row lands in its slot, and no other byte changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kvconformance.attention.placements import Placement, place
from kvconformance.attention.problems import problem_of
from kvconformance.attention.surface import HEAD_MAJOR, AttentionCall, stored
from kvconformance.history import Attend, WriteRows
from kvreference.arrays import AnyArray, Int
from kvspec import rules
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Violation, Waived

if TYPE_CHECKING:
    from kvconformance.attention.driver import AttentionDriver


def write(driver: AttentionDriver, operation: WriteRows) -> None:
    """Write rows to slots in no order, some of them padding (slot -1), with more rows of keys than slots."""
    if not hasattr(driver.engine, "write") or max(operation.slots, default=0) >= _slots(driver):
        return
    cache = _cache(driver, operation)
    keys, values = _rows(operation, len(operation.slots) + operation.extra)
    slots = np.array(operation.slots, np.int64)
    wanted = [_expected(pages, slots, rows, driver.world.block_size) for pages, rows in _sides(cache, keys, values)]
    _count(driver, operation)
    try:
        driver.engine.write(cache, slots, keys, values)
    except (Violation, Waived, HarnessFault):
        raise
    except Exception as error:  # whatever a stranger's kernel raises is an answer to be judged
        seen = f"write raises {type(error).__name__}: {str(error)[:300]}"
        driver.tally.broken(rules.PADDING_WRITES_NOTHING, seen, "the rows in their slots")
        return
    for name, (pages, _), expected in zip(("keys", "values"), _sides(cache, keys, values), wanted, strict=True):
        off = np.argwhere((pages != expected).any(axis=(2, 3)))
        if len(off):
            _report(driver, operation, name, [tuple(place) for place in off.tolist()])


def _slots(driver: AttentionDriver) -> int:
    return driver.world.num_blocks * driver.world.block_size


def _cache(driver: AttentionDriver, operation: WriteRows) -> AttentionCall:
    recipe = Attend(lengths=(), heads=operation.heads, dtype=operation.dtype, layout=operation.layout)
    problem = replace(problem_of(recipe, driver.world.block_size), layout=operation.layout)
    empty = np.zeros((0, operation.heads[1], operation.heads[2]))
    problem = replace(problem, lengths=((0, 0),), keys=(empty,), values=(empty,))
    return place(problem, Placement(driver.world.num_blocks, driver.world.block_size, garbage=operation.seed))


def _rows(operation: WriteRows, count: int) -> tuple[AnyArray, AnyArray]:
    rng = np.random.default_rng([operation.seed, count])
    both = rng.standard_normal((2, count, *operation.heads[1:])) + 10
    return stored(both[0], operation.dtype), stored(both[1], operation.dtype)


def _sides(cache: AttentionCall, keys: AnyArray, values: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
    """Token-major pages with the rows that are to be written."""
    pages = [p.transpose(0, 2, 1, 3) if cache.layout == HEAD_MAJOR else p for p in (cache.keys, cache.values)]
    return list(zip(pages, (keys, values), strict=True))


def _expected(pages: AnyArray, slots: Int, rows: AnyArray, size: int) -> AnyArray:
    after: AnyArray = pages.copy()
    for slot, row in zip(slots.tolist(), rows, strict=False):
        if slot >= 0:
            after[slot // size, slot % size] = row
    return after


def _count(driver: AttentionDriver, operation: WriteRows) -> None:
    driver.tally.met(rules.RELABEL_INVARIANCE)
    if -1 in operation.slots or operation.extra:
        driver.tally.met(rules.PADDING_WRITES_NOTHING)


def _report(driver: AttentionDriver, operation: WriteRows, name: str, off: list[tuple[int, ...]]) -> None:
    size = driver.world.block_size
    slots = [block * size + offset for block, offset in off]
    stray = [slot for slot in slots if slot not in operation.slots]
    rule: Rule = rules.PADDING_WRITES_NOTHING if -1 in operation.slots or operation.extra else rules.RELABEL_INVARIANCE
    seen = f"{name} of slots {slots[:6]} are wrong after a write to slots {list(operation.slots)}"
    expected = "a row in each slot that is not -1" + (f"; slot {stray[0]} was not written" if stray else "")
    driver.tally.broken(rule, seen, expected)
