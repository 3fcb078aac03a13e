"""Named results that may depend on nothing but their input, as bytes; run as a program, it writes their digests.

`kept` vectors have the same bits on every machine, and `kept.json` holds their digests. `local` ones depend on the
version of Hypothesis, which searches, and on nothing else of a machine. `certified` results are computed in fp64 with
whatever BLAS and exp a machine has: each is an interval around the exact result, so that all of them meet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bits = Iterator[tuple[str, bytes]]
Intervals = Iterator[tuple[str, Floats, Floats]]


class Results(msgspec.Struct):
    """What one run computed: SHA-256 digests by name, and the lower and upper ends of certified results."""

    kept: dict[str, str]
    local: dict[str, str]
    certified: dict[str, tuple[list[float], list[float]]]


def noise(seed: int, *shape: int) -> NDArray[np.float32]:
    """Numbers over seven octaves, of both signs, made of integers alone: a normal distribution asks libm."""
    rng = np.random.default_rng(seed)
    fractions = rng.integers(-(2**20), 2**20, shape).astype(np.float64)
    return np.ldexp(fractions, rng.integers(-23, -16, shape)).astype(np.float32)


def digest(parts: Iterable[NDArray[Any] | bytes | None]) -> bytes:
    """The bytes of arrays in C order, one after another; all NaN are one, whose sign and payload nobody promises."""
    return b"".join(part if isinstance(part, bytes) else _bytes(part) for part in parts if part is not None)


def _bytes(array: NDArray[Any]) -> bytes:
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return np.ascontiguousarray(array).tobytes()


def compute(searching: bool) -> Results:
    """All of them, in this process; `local` ones only if `searching`, which takes a third of the time."""
    from tests.portable import law, numbers  # they import this module

    groups = [numbers.quantizers, law.keys, law.explored, law.recorded]
    if find_spec("triton") and find_spec("torch"):
        from tests.portable import kernels

        groups += [kernels.attention, kernels.copies]
    return Results(
        _digests(groups),
        _digests([law.found] if searching else []),
        {name: (low.tolist(), high.tolist()) for name, low, high in numbers.certificates()},
    )


def _digests(groups: Iterable[Callable[[], Bits]]) -> dict[str, str]:
    return {name: sha256(data).hexdigest() for group in groups for name, data in group()}


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(msgspec.json.encode(compute(searching="searching" in sys.argv)))
