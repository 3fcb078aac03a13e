"""Quantizers of the reference, and certificates of its attention."""

from __future__ import annotations

import numpy as np

from kvreference.attention import Row
from kvreference.quantizers import decode, encode
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.certificates import certify
from kvreference.tolerance.declaration import Declaration
from kvspec.numbers.floats import FP16
from kvspec.numbers.schemes import SCHEMES
from tests.portable.vectors import Bits, Intervals, digest, noise


def quantizers() -> Bits:
    """Codes, scales and what they mean, of every scheme of the catalogue."""
    for name, scheme in SCHEMES.items():
        values = noise(1, 32, 2, 64)
        encoded = encode(values.astype(np.float16) if scheme.arithmetic is FP16 else values, scheme)
        stored = (encoded.codes, encoded.scales.scale, encoded.scales.zero, decode(encoded, scheme))
        yield f"quantizer {name}", digest(stored)


def certificates() -> Intervals:
    """Intervals for rows of attention over long and short keys: T1, and T2 for a kernel that declares its tile."""
    for count in (1, 33, 700):
        query, keys, values = (
            round_to(noise(seed, *shape).astype(np.float64), format_named("bf16"))
            for seed, shape in ((2, (64,)), (3, (count, 64)), (4, (count, 64)))
        )
        row = Row(query, keys, values, 0.125)
        for name, declaration in (("t1", Declaration()), ("t2", Declaration(kv_tile=32))):
            certificate = certify(row, declaration)
            yield f"{name} of {count} keys", *_ends(certificate.output, certificate.tolerance)


def _ends(center: np.ndarray, tolerance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return center - tolerance, center + tolerance
