"""Certificate T2 for kernels that multiply each weight by the scale of its value before they round it.

Such a kernel forms `rnd_P(fl(P s)) c` for a value `v = s c` of code `c` and scale `s`: it does not round P, but P times
a number that is known exactly. So the reference rounds there too, `c_j = rnd_P(w_j s_j) / s_j`, and what T2 says of
rounded weights stands as it is (`spec/attention-tolerance.md`), with one more rounding in the product `P s` itself.
"""

from __future__ import annotations

import numpy as np

from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.averages import sums_of_size
from kvreference.tolerance.certificates import SLACK, Certificate
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.exponents import OWN_UNIT, TINY, exponents, gamma


def t2_of_scaled_weights(row: Row, declaration: Declaration, scales: Float) -> Certificate:
    """The certificate of one row with keys; `scales` `[n]` are those of its values."""
    assert declaration.p is not None
    errors, target = exponents(row, declaration), format_named(declaration.p)
    values, scale = row.values, np.where(scales == 0, 1.0, scales)
    if row.sink is not None:
        values, scale = np.vstack([values, np.zeros((1, values.shape[1]))]), np.append(scale, 1.0)
    weights, factor = np.exp(errors.z - errors.top), np.exp(errors.top - errors.z.max())
    d = errors.logit + errors.top_error + errors.local + declaration.accumulation
    stored, up, down = (round_to(weights * scale * np.exp(x), target) / scale for x in (0, d, -d))
    mass = (weights * factor).sum()
    p, a, doubt = (
        weights * factor / mass,
        stored * factor / mass,
        np.maximum(up - stored, stored - down) * factor / mass,
    )
    later = errors.later + errors.drift
    output, grown, least = a @ values, np.exp(later), p @ np.exp(-(d + later))
    spread = sums_of_size((np.expm1(later) * a)[None], values, output)[0]
    doubted, size, reach = sums_of_size(np.stack([doubt * grown, (a + doubt) * grown / least, np.ones_like(p)]), values)
    drift = np.expm1(later) @ np.abs(a - p) + (p * grown) @ np.expm1(d)
    moved = (spread + drift * np.abs(output) + doubted) / least
    chain = len(row.keys) + errors.rescales + errors.parts + 6 + (row.sink is not None)
    noise = gamma(chain, declaration.accumulation) + gamma(len(row.keys) + 8, OWN_UNIT)
    rounded = noise * (size + np.abs(output) + moved) / (1 - noise)
    # A product P s below the smallest normal number may be flushed: in units of P that is 1 / s of it.
    lost = (errors.rescales + 5) * TINY * grown.max() / (mass * least)
    flushed = lost * (reach + (1 / scale) @ np.abs(values) + len(p) * np.abs(output))
    stored_part = format_named(declaration.partial)
    partial = stored_part.unit * size * (1 + noise) / (1 - noise) + stored_part.smallest / 2
    return Certificate(output, (moved + rounded + flushed + (partial if errors.parts > 1 else 0)) * SLACK)
