"""Query rows for stress: random ones with the troubles of real caches, and adversaries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.roundings import format_named, round_to


def random_row(rng: np.random.Generator, stored: str, value_dim: int = 32, longest: int = 700) -> Row:
    """A row whose inputs are representable in the format `stored`.

    Lengths, head dims and magnitudes vary; some rows have outlier channels, repeated tokens, a first token that draws
    all attention, a sink, a softcap, or begin late in the context as behind a sliding window.
    """
    count, size = int(rng.integers(1, longest)), int(rng.choice([16, 64, 128]))
    query = rng.standard_normal(size) * 10 ** rng.uniform(-2, 1)
    keys = rng.standard_normal((count, size))
    values = rng.standard_normal((count, value_dim)) * 10 ** rng.uniform(-2, 2) + rng.choice([0.0, 0.0, 5.0])
    if rng.random() < 0.3:
        keys[:, rng.integers(size)] += 20 * rng.standard_normal()
    if rng.random() < 0.2:
        keys = keys[rng.integers(0, count, count)]
    if rng.random() < 0.2:
        keys[0] = query * (5 / (np.abs(query).max() + 1e-9))
    query, keys, values = (_cast(np.clip(x, -6e4, 6e4), stored) for x in (query, keys, values))
    sink = float(np.float32(rng.normal(0, 5))) if rng.random() < 0.2 else None
    cap = float(rng.choice([5.0, 30.0])) if rng.random() < 0.2 else None
    return Row(query, keys, values, size**-0.5, cap, sink, int(rng.choice([0, 0, 37, 1000])))


def rounding_adversary(count: int, value_dim: int = 32) -> Row:
    """Every weight but the first lies just below the middle between two bfloat16 numbers, so P rounds down for all.

    The logit is realised exactly enough by four bfloat16 pieces (the adversary of a tolerance that assumes chance).
    """
    target, pieces = np.log(0.5 * (1 + 2.0**-8 * 0.999)), []
    for _ in range(4):
        pieces.append(float(_cast(np.array([target]), "bf16")[0]))
        target -= pieces[-1]
    keys, values = np.zeros((count, 16)), np.ones((count, value_dim))
    keys[1:, :4] = pieces
    values[0] = 0
    return Row(np.append(np.ones(4), np.zeros(12)), keys, values, 1.0)


def without(row: Row, index: int) -> Row:
    """The row with one token dropped."""
    return replace(row, keys=np.delete(row.keys, index, 0), values=np.delete(row.values, index, 0))


def replaced(row: Row, index: int, key: Float, value: Float) -> Row:
    """The row with one token's key and value replaced."""
    keys, values = row.keys.copy(), row.values.copy()
    keys[index], values[index] = key, value
    return replace(row, keys=keys, values=values)


def _cast(x: Float, name: str) -> Float:
    return round_to(x, format_named(name))
