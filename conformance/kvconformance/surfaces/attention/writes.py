"""Writing new keys and values by slot: each real row lands in its slot, and no other byte changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kvconformance.surfaces.attention.formats import dynamic
from kvconformance.surfaces.attention.judging.neighbours import admitted
from kvconformance.surfaces.attention.operations import Attend, WriteRows
from kvconformance.surfaces.attention.problems.numbers import Problem
from kvconformance.surfaces.attention.problems.placements import Placement, place
from kvconformance.surfaces.attention.protocol import HEAD_MAJOR, AttentionCall, stored
from kvreference.arrays import AnyArray, Float, Int
from kvreference.roundings import format_named, round_to
from kvspec import rules
from kvspec.numbers.floats import Overflow
from kvspec.numbers.schemes import IntegerCodes, Zero
from kvspec.rules import Rule
from kvspec.violation import HarnessFault, Violation, Waived

SIGNED_ZERO = 0x80
"""The code of minus zero in 8-bit floats."""
_BESIDE = ("key_scales", "value_scales", "key_zeros", "value_zeros")

if TYPE_CHECKING:
    from kvconformance.surfaces.attention.driver import AttentionDriver


def write(driver: AttentionDriver, operation: WriteRows) -> None:
    """Write rows to slots in no order, some of them padding (slot -1), with more rows of keys than slots."""
    if not hasattr(driver.engine, "write") or max(operation.slots, default=0) >= _slots(driver):
        return
    if not driver.capabilities.holds(operation.cache, operation.dtype, operation.heads[2]):
        return
    problem = _empty(driver, operation)
    call = place(problem, Placement(driver.world.num_blocks, driver.world.block_size, garbage=operation.seed))
    rows = _reached(driver, problem, _rows(operation, len(operation.slots) + operation.extra))
    slots, keys, values = np.array(operation.slots, np.int64), *(stored(x, operation.dtype) for x in rows)
    before = {name: getattr(call, name).copy() for name in _written(problem)}
    others = {name: array for name, array in call.inputs().items() if name not in before}
    others |= {"slots": slots, "the rows of keys": keys, "the rows of values": values}
    unchanged = {name: array.tobytes() for name, array in others.items()}
    _count(driver, operation, problem)
    try:
        driver.engine.write(call, slots, keys, values)
    except (Violation, Waived, HarnessFault):
        raise
    except Exception as error:  # whatever a stranger's kernel raises is an answer to be judged
        seen = f"write raises {type(error).__name__}: {str(error)[:300]}"
        driver.tally.broken(rules.PADDING_WRITES_NOTHING, seen, "the rows in their slots")
        return
    for name, expected in _expected(problem, call, before, np.array(operation.slots, np.int64), rows).items():
        off = _off(_plain(getattr(call, name), call.layout), expected, floats=_floats(problem, name))
        if off:
            _report(driver, operation, name, off)
    for name, bytes_ in unchanged.items():
        if others[name].tobytes() != bytes_:
            rule = rules.ONE_SCALE if name in _BESIDE else rules.FRESH_METADATA
            driver.tally.broken(rule, f"a write changes {name}", "only the slots that are written change")


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


def _written(problem: Problem) -> list[str]:
    """The arrays of a call that a write changes: keys and values, with what each token has beside them."""
    names = ["keys", "values"]
    for name, side in zip(("key", "value"), problem.cache.sides if problem.cache else (), strict=False):
        if dynamic(side.scheme):
            names += [f"{name}_scales"] + [f"{name}_zeros"] * (side.scheme.zero is not Zero.SYMMETRIC)
    return names


def _reached(driver: AttentionDriver, problem: Problem, rows: tuple[Float, Float]) -> tuple[Float, Float]:
    """Rows within the reach of shared scales, where a code beyond the largest one would be no number."""
    if problem.cache is None:
        return rows
    format = driver.capabilities.caches[problem.cache.name]
    found = []
    for scheme, side, numbers in zip((format.keys, format.values), problem.cache.sides, rows, strict=True):
        if dynamic(scheme) or isinstance(scheme.codes, IntegerCodes) or scheme.overflow is Overflow.SATURATE:
            found.append(numbers)
            continue
        # A bit less, so that no dtype rounds it up.
        reach = float(scheme.codes.largest) * side.scales((1, *numbers.shape[1:])).scale * (1 - 2.0**-7)
        reach = round_to(reach.astype(np.float64), format_named(problem.dtype))
        found.append(np.clip(numbers, -reach, reach))
    return found[0], found[1]


def _expected(
    problem: Problem, call: AttentionCall, before: dict[str, AnyArray], slots: Int, rows: tuple[Float, Float]
) -> dict[str, AnyArray]:
    """What is to stand in every array of the call that is written, token-major."""
    found = {}
    kept = np.flatnonzero(slots >= 0)
    for which, (name, numbers) in enumerate(zip(("key", "value"), rows, strict=True)):
        side = None if problem.cache is None else problem.cache.sides[which]
        names = [array for array in (f"{name}s", f"{name}_scales", f"{name}_zeros") if array in before]
        parts = [stored(numbers[kept], problem.dtype)]
        if side is not None:
            seen = [_rows_at(_plain(getattr(call, array), call.layout), slots[kept]) for array in names]
            seen += [np.zeros((len(kept), problem.keys[0].shape[1], 0))] * (3 - len(seen))
            parts = list(admitted(side, numbers[kept], (seen[0], seen[1], seen[2])))
        for array, part in zip(names, parts, strict=False):
            found[array] = _after(_plain(before[array], call.layout), slots[kept], part)
    return found


def _rows_at(pages: AnyArray, slots: Int) -> AnyArray:
    rows: AnyArray = pages[slots // pages.shape[1], slots % pages.shape[1]]
    return rows


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
    after[slots // pages.shape[1], slots % pages.shape[1]] = rows
    return after


def _count(driver: AttentionDriver, operation: WriteRows, problem: Problem) -> None:
    driver.tally.met(rules.RELABEL_INVARIANCE)
    if operation.cache is not None and max(operation.slots, default=-1) >= 0:
        driver.tally.met(rules.HALF_STEP)
    if problem.cache is not None and any(not dynamic(side.scheme) for side in problem.cache.sides):
        driver.tally.met(rules.ONE_SCALE)
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
