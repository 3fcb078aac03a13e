"""One call of a kernel, and what is wrong with its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kvconformance.surfaces.attention.judging.certified import Allowed
from kvconformance.surfaces.attention.problems.numbers import Problem
from kvconformance.surfaces.attention.protocol import Attended, AttentionCall, AttentionCapabilities
from kvreference.arrays import Float
from kvspec.violation import HarnessFault, Violation, Waived

_OF_BLOCKS = ("keys", "values", "key_scales", "value_scales", "key_zeros", "value_zeros")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """`output` `[rows, heads, value_dim]` and `lse` `[rows, heads]` without padding, or why there is none.

    `changed` names the inputs that the call changed.
    """

    output: Float
    lse: Float | None
    raised: str = ""
    changed: tuple[str, ...] = ()

    def same_bits(self, other: Outcome) -> bool:
        """Whether both answers are the same, bit for bit; a kernel that raises twice is the same."""
        if self.raised or other.raised:
            return bool(self.raised) == bool(other.raised)
        pairs = [(self.output, other.output)]
        if self.lse is not None and other.lse is not None:
            pairs.append((self.lse, other.lse))
        return all(np.array_equal(a, b) for a, b in pairs)

    def rows(self, rows: list[int]) -> Outcome:
        """The answer for some of the rows."""
        if self.raised:
            return self
        return Outcome(self.output[rows], None if self.lse is None else self.lse[rows], changed=self.changed)


def attend(engine: Any, call: AttentionCall) -> Outcome:
    """The kernel's answer. Raises `HarnessFault` where the adapter answers in another shape."""
    before = {name: array.tobytes() for name, array in call.inputs().items() if name not in _OF_BLOCKS}
    owned = _bytes_of_blocks(call)
    try:
        answer = engine.attend(call)
    except (Violation, Waived, HarnessFault):
        raise
    except Exception as error:  # whatever a stranger's kernel raises is an answer to be judged
        return Outcome(np.zeros(0), None, f"the kernel raises {type(error).__name__}: {str(error)[:300]}")
    changed = [name for name, bytes_ in before.items() if getattr(call, name).tobytes() != bytes_]
    changed += [name for name, bytes_ in _bytes_of_blocks(call).items() if owned[name] != bytes_]
    return _checked(answer, call, tuple(changed))


def _bytes_of_blocks(call: AttentionCall) -> dict[str, bytes]:
    # Only what the tables name: a far cache has more address space than memory.
    named = np.unique(call.tables[(call.tables >= 0) & (call.tables < len(call.keys))])
    arrays = {name: array for name in _OF_BLOCKS if (array := getattr(call, name)) is not None}
    return {name: (array[named] if array.ndim > 1 else array).tobytes() for name, array in arrays.items()}


def _checked(answer: Any, call: AttentionCall, changed: tuple[str, ...]) -> Outcome:
    if not isinstance(answer, Attended):
        raise HarnessFault(f"attend() returns {type(answer).__name__}, not an Attended")
    rows, heads, _ = call.query.shape
    output = np.asarray(answer.output)
    if output.shape != call.query.shape or output.dtype.kind != "f":
        raise HarnessFault(
            f"attend() returns an output of {output.dtype} {list(output.shape)}, for queries {list(call.query.shape)}"
        )
    real = int(call.starts[-1])
    lse = None if answer.lse is None else np.asarray(answer.lse, np.float64)
    if lse is not None and lse.shape != (rows, heads):
        raise HarnessFault(f"attend() returns an LSE of {list(lse.shape)}, for [rows, heads] {[rows, heads]}")
    return Outcome(output[:real].astype(np.float64), None if lse is None else lse[:real], changed=changed)


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong element: where it is, what was seen, what is allowed."""

    seen: str
    expected: str
    row: int = -1
    head: int = -1


def wrong(outcome: Outcome, bounds: Allowed, judge_lse: bool) -> Wrong | None:
    """The first row and head whose output or LSE is not allowed, or None."""
    if outcome.raised:
        return Wrong(outcome.raised, "an answer")
    off = ~((outcome.output >= bounds.low) & (outcome.output <= bounds.high))
    if off.any():
        row, head, element = (int(i) for i in np.argwhere(off)[0])
        where = (row, head, element)
        seen = f"row {row} head {head} element {element} is {outcome.output[where]:.9g}"
        return Wrong(
            f"{seen} ({int(off.sum())} elements are off)", _between(bounds.low[where], bounds.high[where]), row, head
        )
    if not judge_lse or outcome.lse is None:
        return None
    off = ~((outcome.lse >= bounds.lse_low) & (outcome.lse <= bounds.lse_high))
    if off.any():
        row, head = (int(i) for i in np.argwhere(off)[0])
        seen = f"the LSE of row {row} head {head} is {outcome.lse[row, head]:.9g}"
        return Wrong(seen, _between(bounds.lse_low[row, head], bounds.lse_high[row, head]), row, head)
    return None


def judges_lse(problem: Problem, capabilities: AttentionCapabilities) -> bool:
    """Whether the LSE is judged: kernels differ on whether a sink belongs to it."""
    return capabilities.lse and problem.layer.sinks is None


def _between(low: float, high: float) -> str:
    return f"exactly {low:.9g}" if low == high else f"between {low:.9g} and {high:.9g}"
