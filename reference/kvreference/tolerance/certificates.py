"""Certificates T1 and T2: an output and a tolerance per element, and the interval in which a stored output must lie.

T1 is sound for any kernel that fits its declaration. T2 also fixes where P is rounded (the tile and the splits), so
its reference rounds P there and its tolerance covers only the noise of accumulation and keys whose P may round either
way. Both are derived in `spec/attention-tolerance.md`, with their assumptions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kvreference.arrays import DeclarationError, Float, as_float, check_shape
from kvreference.attention import Row
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.arithmetic import LEAST_CODE, TINY, gamma, own_error
from kvreference.tolerance.averages import box_bound, mad_bound, sums_of_size, tanh_bound
from kvreference.tolerance.declaration import Declaration
from kvreference.tolerance.exponents import Exponents, exponents


@dataclass(frozen=True, slots=True)
class Certificate:
    """`output` and `tolerance`, float64 `[value_dim]`, before the cast to the stored format.

    `ambiguous` counts keys whose P may round either way (T2).
    """

    output: Float
    tolerance: Float
    ambiguous: int = 0

    def interval(self, stored: str) -> tuple[Float, Float]:
        """The least and greatest outputs in format `stored` that are allowed: rounding is monotone."""
        target = format_named(stored)
        return round_to(self.output - self.tolerance, target), round_to(self.output + self.tolerance, target)

    def allows(self, output: Float, stored: str) -> bool:
        """Whether every element of a kernel's `output` lies in the interval; NaN does not."""
        low, high = self.interval(stored)
        return bool(((output >= low) & (output <= high)).all())


def certify(row: Row, declaration: Declaration, value_scales: Float | None = None) -> Certificate:
    """T2 where the kernel declares its tile and rounds P, with the `value_scales` that it multiplied in; else T1."""
    if declaration.kv_tile is None or declaration.p is None:
        scaled = None if value_scales is None else _units(row, value_scales)[: len(row.keys), None]
        return t1(row, declaration, value_units=None if scaled is None else np.abs(row.values) * scaled)
    return t2(row, declaration, value_scales)


def t1(
    row: Row,
    declaration: Declaration,
    key_error: Float | None = None,
    value_error: Float | None = None,
    *,
    box: bool = False,
    key_units: Float | None = None,
    value_units: Float | None = None,
) -> Certificate:
    """The certificate for any kernel that fits `declaration`, around exact attention.

    `key_error` and `value_error`, shaped as keys and values, bound how far the kernel's keys and values are from
    those of `row`. `box` takes the exact worst case of the exponents, at several times the cost. `key_units` and
    `value_units`, shaped alike, bound what the kernel multiplies an absolute error of the query or of P by, where that
    is not the key or value: the code of a value whose scale P was multiplied by before it was rounded. Raises
    `ShapeError`.
    """
    _check_errors(row, key_error=key_error, key_units=key_units, value_error=value_error, value_units=value_units)
    if len(row.keys) == 0:
        return _nothing(row)
    errors = exponents(row, declaration, key_error, key_units)
    d, values = errors.relative, _with_sink(row, row.values)
    weights = np.exp(errors.z - errors.z.max())
    mass = weights.sum()
    p = weights / mass
    output, least = p @ values, p @ np.exp(-d)
    moved = _average_bound(p, d, values, output, box)
    most = np.minimum(p * np.exp(d) / least, 1.0)
    size, reach = sums_of_size(np.stack([most, np.ones_like(most)]), values)
    if value_error is not None:
        uncertain, beyond = np.stack([most, np.ones_like(most)]) @ _with_sink(row, value_error)
        moved, size, reach = moved + uncertain, size + uncertain, reach + beyond
    if value_units is not None:
        reach = value_units.sum(axis=0)
    noise = _noise(row, declaration, errors)
    unit, step = (0.0, 0.0) if declaration.p is None else _unit_and_step(declaration.p)
    rounded = (unit * size * (1 + noise) + noise * (size + np.abs(output) + moved)) / (1 - noise)
    lost = (step / 2 + (errors.rescales + 4) * TINY) * np.exp(errors.later.max() + errors.top_error.max())
    flushed = lost / (mass * least) * (reach + len(p) * np.abs(output)) * (1 + noise) / (1 - noise)
    flushed = flushed + _flushed_sums(len(p), errors, reach) / (1 - noise)
    partial = _partial(declaration, errors, size * (1 + unit) * (1 + noise) / (1 - noise))
    return _certificate(row, output, moved + rounded + flushed + partial, (size + np.abs(output)) / least)


def t2(
    row: Row,
    declaration: Declaration,
    value_scales: Float | None = None,
    *,
    key_units: Float | None = None,
    value_units: Float | None = None,
) -> Certificate:
    """The certificate for a kernel whose tile and splits are declared, around attention that rounds P as it does.

    `value_scales` `[n]` are for a kernel that multiplies each P by the scale of its value before it rounds, and then
    by the value's code; `key_units` and `value_units` as in `t1`. Raises `DeclarationError` where the tile or the
    format of P is not declared, `ShapeError`.
    """
    if declaration.p is None or declaration.kv_tile is None:
        raise DeclarationError("T2 needs the KV tile and the format to which P is rounded")
    _check_errors(row, key_units=key_units, value_units=value_units)
    if len(row.keys) == 0:
        return _nothing(row)
    errors, scales = exponents(row, declaration, None, key_units), _positive(row, value_scales)
    values, units = _with_sink(row, row.values), _units(row, value_scales)
    weights, factor = np.exp(errors.z - errors.top), np.exp(errors.top - errors.z.max())
    d = errors.logit + errors.top_error + errors.local + (0.0 if value_scales is None else declaration.accumulation)
    stored = round_to(weights * scales, format_named(declaration.p)) / scales
    either_way = _rounding_doubt(weights, stored, d, declaration.p, scales)
    mass = (weights * factor).sum()
    p, a, doubt = weights * factor / mass, stored * factor / mass, either_way * factor / mass
    later = errors.later + errors.drift
    output, grown, least = a @ values, np.exp(later), p @ np.exp(-(d + later))
    doubted, size, reach = sums_of_size(np.stack([doubt * grown, (a + doubt) * grown / least, units]), values)
    if value_units is not None:
        reach = value_units.sum(axis=0)
    moved = _scaled_bound(later, a, p, values, output) + np.abs(output) * ((p * grown) @ np.expm1(d))
    moved = (moved + doubted) / least
    noise = _noise(row, declaration, errors, products=1 if value_scales is None else 2)
    rounded = noise * (size + np.abs(output) + moved) / (1 - noise)
    lost = (errors.rescales + 5) * TINY * grown.max() / (mass * least)
    flushed = lost * (reach + len(p) * np.abs(output)) + _flushed_sums(len(p), errors, reach) / (1 - noise)
    partial = _partial(declaration, errors, size * (1 + noise) / (1 - noise))
    unsure = size + np.abs(output) * ((a + p) @ grown) / least
    return _certificate(row, output, moved + rounded + flushed + partial, unsure, int((either_way > 0).sum()))


def _certificate(row: Row, output: Float, tolerance: Float, unsure: Float, ambiguous: int = 0) -> Certificate:
    """With what our own arithmetic may be off: relative to the tolerance, and to the sums `unsure` of the output."""
    own = own_error(*row.keys.shape)
    tolerance = tolerance * (1 + own) + own * unsure
    # Where errors are so large that their exponentials overflow, nothing is certain.
    return Certificate(output, np.where(np.isnan(tolerance), np.inf, tolerance), ambiguous)


def _flushed_sums(count: int, errors: Exponents, reach: Float) -> Float:
    """What flushed products, sums, rescales, divisions and merges may add up to: a weight of at most 1 is left."""
    return 8 * TINY * (count + errors.rescales + errors.parts + 1) * (1 + reach / LEAST_CODE)


def _positive(row: Row, value_scales: Float | None) -> Float:
    """A scale for each key, that of a sink 1; so is a scale of 0, all of whose values are 0."""
    scales = np.ones(len(row.keys)) if value_scales is None else as_float("value_scales", value_scales)
    check_shape("value_scales", scales, (len(row.keys),))
    return np.append(np.where(scales == 0, 1.0, scales), np.ones(int(row.sink is not None)))


def _units(row: Row, value_scales: Float | None) -> Float:
    """What an absolute error of P is multiplied by, for each key and as a multiple of its value."""
    return np.maximum(1 / _positive(row, value_scales), 1.0)


def _average_bound(p: Float, d: Float, values: Float, output: Float, box: bool) -> Float:
    bound = box_bound(p, d, values, output) if box else mad_bound(p, d, values, output)
    # Below this the tanh bound cannot win: both are about d times a mean distance or half the range.
    return bound if d.max() < 2.0**-4 else np.minimum(bound, tanh_bound(d, values))


def _rounding_doubt(weights: Float, stored: Float, d: Float, name: str, scales: Float) -> Float:
    """How far the kernel's rounded P may be from `stored`: rounding is monotone, so the ends of the interval tell."""
    target = format_named(name)
    up, down = (round_to(weights * scales * np.exp(x), target) / scales for x in (d, -d))
    return np.maximum(up - stored, stored - down)


def _scaled_bound(later: Float, a: Float, p: Float, values: Float, output: Float) -> Float:
    """A bound on `sum (e^later - 1) |a values - p output|`, split at `a output` to need one pass over the values."""
    grown = np.expm1(later)
    # Factors follow only keys that are met before the maximum: a prefix, where there is one part.
    last = int(np.flatnonzero(later > 0)[-1]) + 1 if later.any() else 0
    spread = sums_of_size((grown * a)[None, :last], values[:last], output)[0]
    return np.asarray(spread + (grown @ np.abs(a - p)) * np.abs(output), np.float64)


def _noise(row: Row, declaration: Declaration, errors: Exponents, products: int = 1) -> float:
    """Relative error of a chain of products, additions, rescales, merges and divisions."""
    joined = errors.rescales + errors.parts + 4 + products + (row.sink is not None)
    chain = (declaration.h_pv or len(row.keys)) + joined
    return gamma(chain, declaration.accumulation)


def _partial(declaration: Declaration, errors: Exponents, size: Float) -> Float:
    if errors.parts == 1:
        return np.zeros_like(size)
    unit, step = _unit_and_step(declaration.partial)
    return unit * size + step / 2


def _unit_and_step(name: str) -> tuple[float, float]:
    target = format_named(name)
    return target.unit, target.smallest


def _with_sink(row: Row, values: Float) -> Float:
    return values if row.sink is None else np.vstack([values, np.zeros((1, values.shape[1]))])


def _nothing(row: Row) -> Certificate:
    zero = np.zeros(row.values.shape[1])
    return Certificate(zero, zero.copy())


def _check_errors(row: Row, **given: Float | None) -> None:
    for name, array in given.items():
        if array is not None:
            check_shape(name, as_float(name, array), (row.keys if name.startswith("key") else row.values).shape)
