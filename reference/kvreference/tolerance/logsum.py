"""How far a stored LSE may be from the exact one (section LSE of `spec/attention-tolerance.md`)."""

from __future__ import annotations

import numpy as np

from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.tolerance.arithmetic import TINY, gamma, own_error
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.exponents import exponents


def lse_tolerance(
    row: Row,
    declaration: Declaration,
    stored_error: float,
    key_error: Float | None = None,
    key_units: Float | None = None,
) -> tuple[float, float]:
    """The LSE of a row, natural logarithm, and how far a kernel's may be off that is stored with `stored_error`.

    A row without keys has minus infinity, exactly. A sink is one more key; its error holds what is common to all keys,
    so it counts on top. `key_error` and `key_units` as in `exponents`.
    """
    if len(row.keys) == 0:
        return -np.inf, 0.0
    errors, u = exponents(row, declaration, key_error, key_units), declaration.accumulation
    top, count = float(errors.z.max()), len(errors.z)
    lse = top + float(np.log(np.exp(errors.z - top).sum()))
    noise = gamma((declaration.h_pv or count) + errors.rescales + errors.parts + 1, u)
    flushed = 2 * (count + errors.rescales + 4) * TINY
    spread = float(np.log(count)) + 1
    size = float(np.abs(errors.z).max() + errors.top_error.max()) + spread
    rounded = gamma(4, u) * size + declaration.exp_error / (1 - declaration.exp_error) * spread
    off = float(errors.relative.max()) + (0.0 if row.sink is None else float(errors.relative[-1]))
    off += flushed - float(np.log1p(-noise)) + rounded * min(errors.parts, 2)
    own = own_error(*row.keys.shape)
    off = off * (1 + own) + own * size
    return lse, off + stored_error * (abs(lse) + off)
