"""T1 and T2 in arithmetic of 200 bits, written from `spec/attention-tolerance.md`; so without any error of our own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpmath import exp, expm1, log, mp, mpf, tanh

from kvreference.attention import Row
from kvreference.roundings import format_named
from kvreference.tolerance.declaration import Declaration

BITS = 200
TINY, LEAST_CODE = mpf(2) ** -126, mpf(2) ** -16
Number = mpf
Numbers = list[mpf]


def gamma(chain: int, unit: Number) -> Number:
    return chain * unit / (1 - chain * unit)


def numbers(array: np.ndarray) -> Numbers:
    return [mpf(float(x)) for x in array]


def rounded(x: Number, name: str) -> Number:
    """`x` >= 0 to nearest, ties to even."""
    target = format_named(name)
    if not x:
        return x
    step = mpf(2) ** (max(int(mp.floor(log(x, 2))), target.emin) - target.precision + 1)
    return mp.nint(x / step) * step


def exact_logits(row: Row) -> Numbers:
    """Logits without any rounding, that of a sink last."""
    query, scale = numbers(row.query), mpf(row.scale)
    z = [scale * mp.fdot(query, numbers(key)) for key in row.keys]
    if row.softcap is not None:
        z = [mpf(row.softcap) * tanh(x / mpf(row.softcap)) for x in z]
    return z if row.sink is None else [*z, mpf(row.sink)]


def exact_values(row: Row) -> list[Numbers]:
    """By channel."""
    columns = [numbers(column) for column in row.values.T]
    return columns if row.sink is None else [[*column, mpf(0)] for column in columns]


@dataclass
class Exponents:
    """Per key, as in section Logits; `count` is R and `parts` S."""

    z: Numbers
    dz: Numbers
    m: Numbers
    dm: Numbers
    local: Numbers
    later: Numbers
    drift: Numbers
    count: int
    parts: int

    @property
    def d(self) -> Numbers:
        return [a + b + c for a, b, c in zip(self.dz, self.local, self.later, strict=True)]


def logit_errors(row: Row, said: Declaration) -> tuple[Numbers, Numbers]:
    u, scale, query = mpf(said.accumulation), abs(mpf(row.scale)), numbers(row.query)
    size, g4 = len(query), gamma(4, mpf(said.accumulation))
    g = gamma((said.h_qk or size) + (not said.exact_products), u)
    z = exact_logits(Row(row.query, row.keys, row.values, row.scale))
    found = []
    for key, logit in zip(row.keys, z, strict=True):
        magnitude = scale * mp.fsum(abs(q * k) for q, k in zip(query, numbers(key), strict=True))
        reach = (1 + size + mp.fsum(map(abs, query))) * (1 + mp.fsum(map(abs, numbers(key))) / LEAST_CODE)
        found.append(g * magnitude * (1 + g4) + g4 * abs(logit) + 8 * TINY * max(1, scale) * reach)
    if row.softcap is None:
        return z, found
    cap, g5 = mpf(row.softcap), gamma(5, u)
    z = [cap * tanh(x / cap) for x in z]
    off = [cap * mpf(said.tanh_error) + g5 * (abs(x) + e) + 8 * TINY * (1 + cap) for x, e in zip(z, found, strict=True)]
    return z, [e + o for e, o in zip(found, off, strict=True)]


def exponents(row: Row, said: Declaration) -> Exponents:
    z, dz = logit_errors(row, said)
    u, epsilon, n = mpf(said.accumulation), mpf(said.exp_error) / (1 - mpf(said.exp_error)), len(z)
    highest = max(a + b for a, b in zip(z, dz, strict=True))
    splits, spread, most = said.splits_of(row.first, n), log(mpf(n)) + 1, 0
    m, dm, later, drift = [], [], [], []
    for start, stop in splits:
        tiles, tops = said.tiles_of(row.first, start, stop), []
        for _, end in tiles:
            seen = range(start, end)
            top, high, low = max(z[j] for j in seen), max(z[j] + dz[j] for j in seen), max(z[j] - dz[j] for j in seen)
            tops.append((top, max(high - top, top - low), low))
        last, off, _ = tops[-1]
        moves = [
            max(z[j] + dz[j] for j in range(*tile)) > before[2] for tile, before in zip(tiles[1:], tops, strict=False)
        ]
        merge = mpf(0)
        if len(splits) > 1:
            lse = gamma(4, u) * (abs(last) + off + spread) + epsilon * spread
            merge = lse + gamma(3, u) * (highest - last + off + spread + 2 * lse) + epsilon
        for index, ((begin, end), (top, error, _)) in enumerate(zip(tiles, tops, strict=True)):
            jumps = sum(moves[index:])
            path = u * (last - top + error + off) + jumps * epsilon if jumps else mpf(0)
            far = error if len(splits) > 1 else (error + off if jumps else mpf(0))
            width = end - begin
            m, dm = m + [top] * width, dm + [error] * width
            later, drift = later + [path + merge] * width, drift + [far] * width
        most = max(most, len(tiles) - 1)
    local = [u * (m[j] - z[j] + dm[j] + dz[j]) + epsilon for j in range(n)]
    found = Exponents(z, dz, m, dm, local, later, drift, most, len(splits))
    return found if row.sink is None else with_sink(found, mpf(row.sink), u, epsilon)


def with_sink(keys: Exponents, sink: Number, u: Number, epsilon: Number) -> Exponents:
    top, slack, logit = max(keys.z), max(keys.dm), gamma(4, u) * abs(sink)
    distance = abs(sink - top) + slack + logit + log(mpf(len(keys.z))) + 1
    ends = (sink, logit, max(top, sink), slack, 2 * u * distance + 2 * epsilon, mpf(0), mpf(0))
    lists = (keys.z, keys.dz, keys.m, keys.dm, keys.local, keys.later, keys.drift)
    return Exponents(*([*x, end] for x, end in zip(lists, ends, strict=True)), keys.count + 1, keys.parts)


def noise_of(row: Row, said: Declaration, found: Exponents, products: int = 1) -> Number:
    chain = (said.h_pv or len(row.keys)) + found.count + found.parts + 4 + products + (row.sink is not None)
    return gamma(chain, mpf(said.accumulation))


def partial_of(said: Declaration, found: Exponents, size: Number) -> Number:
    target = format_named(said.partial)
    return mpf(target.unit) * size + mpf(target.smallest) / 2 if found.parts > 1 else mpf(0)


def flushed_sums(n: int, found: Exponents, reach: Number, noise: Number) -> Number:
    return 8 * TINY * (n + found.count + found.parts + 1) * (1 + reach / LEAST_CODE) / (1 - noise)


def exact_t1(row: Row, said: Declaration) -> list[tuple[Number, Number]]:
    """Output and tolerance of each channel, with the smaller of MAD and tanh."""
    found, noise = exponents(row, said), noise_of(row, said, exponents(row, said))
    d, top, n = found.d, max(found.z), len(found.z)
    weights = [exp(z - top) for z in found.z]
    mass = mp.fsum(weights)
    p = [w / mass for w in weights]
    least = mp.fsum(a * exp(-b) for a, b in zip(p, d, strict=True))
    most = [min(1, a * exp(b) / least) for a, b in zip(p, d, strict=True)]
    target = None if said.p is None else format_named(said.p)
    unit, step = (mpf(0), mpf(0)) if target is None else (mpf(target.unit), mpf(target.smallest))
    lost = (step / 2 + (found.count + 4) * TINY) * exp(max(found.later) + max(found.dm))
    answers = []
    for values in exact_values(row):
        o = mp.fdot(p, values)
        moved = mp.fsum(p[j] * expm1(d[j]) * abs(values[j] - o) for j in range(n)) / least
        moved = min(moved, tanh(max(d) / 2) * (max(values) - min(values)))
        size, reach = mp.fsum(m * abs(v) for m, v in zip(most, values, strict=True)), mp.fsum(map(abs, values))
        t = moved + (unit * size * (1 + noise) + noise * (size + abs(o) + moved)) / (1 - noise)
        t += lost / (mass * least) * (reach + n * abs(o)) * (1 + noise) / (1 - noise)
        t += flushed_sums(n, found, reach, noise)
        answers.append((o, t + partial_of(said, found, size * (1 + unit) * (1 + noise) / (1 - noise))))
    return answers


def exact_t2(row: Row, said: Declaration, scales: np.ndarray | None = None) -> list[tuple[Number, Number]]:
    """Output and tolerance of each channel; P is rounded as it is without any error."""
    assert said.p is not None
    found = exponents(row, said)
    noise, n = noise_of(row, said, found, 1 if scales is None else 2), len(found.z)
    s = [mpf(1)] * n if scales is None else [x or mpf(1) for x in numbers(scales)] + [mpf(1)] * (n - len(row.keys))
    own = mpf(0) if scales is None else mpf(said.accumulation)
    big = [found.dz[j] + found.dm[j] + found.local[j] + own for j in range(n)]
    w = [exp(found.z[j] - found.m[j]) for j in range(n)]
    c, up, down = ([rounded(w[j] * s[j] * exp(k * big[j]), said.p) / s[j] for j in range(n)] for k in (0, 1, -1))
    rho = [exp(m - max(found.z)) for m in found.m]
    mass = mp.fdot(w, rho)
    later = [a + b for a, b in zip(found.later, found.drift, strict=True)]
    p, a = ([x * r / mass for x, r in zip(xs, rho, strict=True)] for xs in (w, c))
    doubt = [max(up[j] - c[j], c[j] - down[j]) * rho[j] / mass for j in range(n)]
    least = mp.fsum(p[j] * exp(-big[j] - later[j]) for j in range(n))
    lost = (found.count + 5) * TINY * exp(max(later)) / (mass * least)
    answers = []
    for values in exact_values(row):
        o = mp.fdot(a, values)
        moved = mp.fsum(expm1(later[j]) * (a[j] * abs(values[j] - o) + abs(a[j] - p[j]) * abs(o)) for j in range(n))
        moved += mp.fsum(p[j] * exp(later[j]) * expm1(big[j]) * abs(o) for j in range(n))
        moved += mp.fsum(doubt[j] * exp(later[j]) * abs(values[j]) for j in range(n))
        moved /= least
        size = mp.fsum((a[j] + doubt[j]) * exp(later[j]) * abs(values[j]) for j in range(n)) / least
        reach = mp.fsum(max(1, 1 / s[j]) * abs(values[j]) for j in range(n))
        t = moved + noise * (size + abs(o) + moved) / (1 - noise) + lost * (reach + n * abs(o))
        t += flushed_sums(n, found, reach, noise)
        answers.append((o, t + partial_of(said, found, size * (1 + noise) / (1 - noise))))
    return answers
