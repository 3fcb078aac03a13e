"""How far a kernel's keys and values may be from what codes mean, and which certificate that leaves.

Derived in `spec/attention-tolerance.md`, section Quantized caches, under the same names. Nothing is tuned: each bound
is a count of roundings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kvconformance.surfaces.attention.formats import Reads, dynamic
from kvconformance.surfaces.attention.problems.numbers import Problem
from kvconformance.surfaces.attention.problems.sides import Cache, Side
from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.roundings import format_named
from kvreference.tolerance.arithmetic import TINY, gamma
from kvreference.tolerance.certificates import Certificate, t1, t2
from kvreference.tolerance.declaration import Declaration
from kvspec.numbers.schemes import Zero


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """Bounds for one row: on keys and values, shaped as those, and on what weights and their errors are multiplied by.

    `scales` `[n]` are factors of weights before they are rounded (T2); `key_units` and `units`, shaped as keys and
    values, bound what an absolute error of a query or a weight is multiplied by. `tile_known` says that the declared
    tile fixes where weights are rounded, so that T2 applies; `output_scaled`, that what they add up to is multiplied
    by a scale of all tokens, which is one rounding more.
    """

    keys: Float | None = None
    values: Float | None = None
    scales: Float | None = None
    key_units: Float | None = None
    units: Float | None = None
    tile_known: bool = True
    output_scaled: bool = False

    def certificate(self, row: Row, declaration: Declaration) -> Certificate:
        """The certificate of the row."""
        if self.tile_known and declaration.p is not None and declaration.kv_tile is not None:
            if self.output_scaled:
                declaration = replace(declaration, h_pv=(declaration.h_pv or len(row.keys)) + 1)
            return t2(row, declaration, self.scales, key_units=self.key_units, value_units=self.units)
        return t1(row, declaration, self.keys, self.values, key_units=self.key_units, value_units=self.units)


CERTAIN = Doubt()


def doubts(problem: Problem, declaration: Declaration) -> list[list[Doubt]]:
    """For every row and head of `problem.row_list()`."""
    heads = problem.query.shape[1]
    if problem.cache is None or problem.cache.format.reads is Reads.EXACT:
        return [[CERTAIN] * heads for _ in range(problem.rows)]
    found = []
    for request, (_, queries) in enumerate(problem.lengths):
        whole = _of_request(problem.cache, problem.keys[request], problem.values[request], problem.dtype, declaration)
        for index in range(queries):
            seen = problem.seen(request, index)
            part = slice(seen.start, seen.stop)
            group = heads // problem.keys[request].shape[1]
            found.append([_of_head(whole, part, head // group) for head in range(heads)])
    return found


def _of_head(whole: Doubt, seen: slice, head: int) -> Doubt:
    names = ("keys", "values", "scales", "key_units", "units")
    parts = {name: getattr(whole, name) for name in names}
    return replace(whole, **{name: x[seen, head] for name, x in parts.items() if x is not None})


def _of_request(cache: Cache, keys: Float, values: Float, dtype: str, declaration: Declaration) -> Doubt:
    """The same for all tokens and KV heads of a request."""
    if cache.format.reads is Reads.ROUNDED:
        target = cache.format.rounded_to or dtype
        return Doubt(_rounded(cache.keys, keys, target), _rounded(cache.values, values, target), tile_known=False)
    own, tile_known = dynamic(cache.format.values), cache.format.factored_throughout()
    return Doubt(
        _factored_keys(cache.keys, keys, declaration),
        _factored_values(cache.values, values, declaration),
        cache.values.token_scales(values) if own and tile_known else None,
        cache.keys.units(keys),
        cache.values.units(values) * (1 + gamma(4, declaration.accumulation)),
        tile_known=tile_known,
        output_scaled=not own,
    )


def _rounded(side: Side, rows: Float, target: str) -> Float:
    """For elements that are decoded in fp32 or in `target` and rounded to `target` (ROUNDED).

    A product of code and scale and, where something is added to it, a sum: each rounded, then the conversion.
    """
    to, single = format_named(target), format_named("fp32")
    size = side.sizes(rows)
    if side.scheme.zero is Zero.SYMMETRIC:
        return (to.unit + single.unit * (1 + to.unit)) * size + to.smallest / 2 + 2 * TINY
    return gamma(3, to.unit + single.unit) * size + 2 * to.smallest + 4 * TINY


def _factored_keys(side: Side, rows: Float, declaration: Declaration) -> Float:
    chain = 2 if side.scheme.zero is Zero.SYMMETRIC else (declaration.h_qk or rows.shape[2]) + 8
    return gamma(chain, declaration.accumulation) * side.sizes(rows)


def _factored_values(side: Side, rows: Float, declaration: Declaration) -> Float:
    if side.scheme.zero is Zero.SYMMETRIC:
        return gamma(2, declaration.accumulation) * side.sizes(rows)
    chain = 2 * (declaration.h_pv or len(rows)) + 16 + declaration.splits
    unit = 0.0 if declaration.p is None else format_named(declaration.p).unit
    return (unit + gamma(chain, declaration.accumulation)) * side.sizes(rows)
