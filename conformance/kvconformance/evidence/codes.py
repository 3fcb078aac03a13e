"""Specification and NumPy reference give the same codes and scales: `python -m kvconformance.evidence.codes`.

Under one scale the code is a monotone function of the value, in the specification by construction (rounding and
clipping are monotone). So it is enough to see that the reference is monotone over all sorted values, and that both
agree at the two ends of every run of equal codes. A power of two that scales a whole group changes no code, so the
anchor runs through the significands of one binade, and the values through every number of the format up to the anchor.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvreference import quantizers
from kvspec.numbers.floats import FloatFormat, Special, rational, to_bits
from kvspec.numbers.groups import Extent
from kvspec.numbers.quantize import decode, encode, encode_all, scale_of
from kvspec.numbers.schemes import SCHEMES, Anchor, Granularity, IntegerCodes, Scheme, Zero
from kvspec.refusals import Refused

Array = NDArray[np.float32]
FORMATS = ("bf16", "fp16")


@dataclass
class Compared:
    """How many values and scales were compared, and each difference as a sentence."""

    values: int = 0
    scales: int = 0
    differences: list[str] = field(default_factory=list)

    def differ(self, text: str) -> None:
        """One more difference."""
        self.differences.append(text)


def bases() -> list[Scheme]:
    """One scheme of each name before the slash: granularity decides who shares a scale, never a code."""
    names = {scheme.name.split("/", maxsplit=1)[0]: scheme for scheme in SCHEMES.values()}
    return [scheme.per(Granularity.TENSOR) for scheme in names.values()]


def numbers(format: str) -> Array:
    """Every finite number of bf16 or fp16, sorted."""
    bits = np.arange(1 << 16, dtype=np.uint32)
    x = (bits << np.uint32(16)).view(np.float32) if format == "bf16" else bits.astype(np.uint16).view(np.float16)
    finite = x[np.isfinite(x)].astype(np.float32)
    return np.unique(finite)


def groups(format: str, scheme: Scheme, every: int) -> list[tuple[float, float]]:
    """The extremes (lowest, highest) of the groups to be tried, every `every`-th significand of the format."""
    steps = 128 if format == "bf16" else 1024
    ones = [1 + k / steps for k in range(0, steps, every)]
    if scheme.anchor is Anchor.SIGNED_ABSMAX:
        return [pair for a in ones for pair in ((-a, a), (-a, a * 0.984375))]
    if scheme.zero is Zero.SYMMETRIC:
        return [(-a, a) for a in ones]
    # Two numbers decide a range: the second runs through the significands in another order, and both signs.
    other = [1 + (k * 397 % steps) / steps for k in range(0, steps, every)]
    pairs = [(sign * b * 2.0**-shift, a) for a, b in zip(ones, other, strict=True) for sign, shift in _LOWS]
    return [(min(pair), max(pair)) for pair in pairs] + [(-high, -low) for low, high in pairs[::7] if low < high]


_LOWS = ((-1, 0), (-1, 3), (1, 2))


def compare_group(x: Array, scheme: Scheme, found: Compared) -> None:
    """One group of sorted values: equal scales, a monotone reference, equal codes at the ends of every run."""
    seen = quantizers.encode(x[None, None, :], scheme)
    scale = scale_of([float(x[0]), float(x[-1])], scheme)
    found.scales += 1
    stored = Fraction(float(seen.scales.scale.item()))
    zero = Fraction(float(seen.scales.zero.item())) if seen.scales.zero is not None else Fraction(0)
    where = f"{scheme.name}, values from {float(x[0])!r} to {float(x[-1])!r}"
    if (stored, zero) != (scale.stored, scale.zero):
        found.differ(f"{where}: scale {stored}, {zero} in the reference, {scale.stored}, {scale.zero} in the spec")
    codes = seen.codes.ravel()
    order = codes.astype(np.int64) if isinstance(scheme.codes, IntegerCodes) else _ordered(codes)
    found.values += len(x)
    if (np.diff(order) * (-1 if scale.stored < 0 else 1) < 0).any():
        found.differ(f"{where}: the codes of the reference are not monotone")
    changes = np.flatnonzero(np.diff(order))
    for index in np.unique(np.concatenate([[0, len(x) - 1], changes, changes + 1])):
        expected = encode(float(x[index]), scale, scheme)
        if int(codes[index]) != expected:
            found.differ(f"{where}: code of {float(x[index])!r} is {codes[index]}, {expected} in the spec")


def _ordered(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Patterns of 8-bit floats as integers in the order of their values, negative zero before zero."""
    magnitude = (codes & 0x7F).astype(np.int64)
    return np.where(codes & 0x80, -1 - magnitude, magnitude)


def every_input(format: str, scheme: Scheme, every: int = 1) -> Compared:
    """All inputs of one format under one scheme; `every` takes only that many anchors."""
    found, line = Compared(), numbers(format)
    for low, high in groups(format, scheme, every):
        inside = line[(line >= low) & (line <= high)]
        if len(inside) > 1:
            compare_group(inside, scheme, found)
    return found


def adversaries(scheme: Scheme, seed: int, trials: int) -> Compared:
    """fp32 values next to the midpoints of codes, under random anchors of any exponent, through whole arrays."""
    random, found = np.random.default_rng(seed), Compared()
    for _ in range(trials):
        width = max(32, scheme.group_size or 0)
        tokens = (scheme.group_size or 2) if scheme.granularity.value == "channel" else 2
        x = _near_midpoints(random, scheme, (tokens, 2, width))
        compare_array(x, scheme, found)
    return found


def _near_midpoints(random: np.random.Generator, scheme: Scheme, shape: tuple[int, int, int]) -> Array:
    top = abs(float(scheme.divisor)) if isinstance(scheme.codes, IntegerCodes) else float(scheme.codes.largest)
    scale = np.float32(random.uniform(1, 2) * 2.0 ** random.choice([0, 0, -8, 9, -30, -140]))
    steps = np.float32(0.5) + random.integers(-int(top), int(top), shape).astype(np.float32)
    with np.errstate(under="ignore", over="ignore"):
        x = (steps * scale).astype(np.float32)
        x = np.where(random.random(shape) < 0.5, np.nextafter(x, x * np.float32(2)), x).astype(np.float32)
    x[..., int(random.integers(shape[2]))] = np.float32(top) * scale
    if scheme.arithmetic.name == "fp16":
        x = x.astype(np.float16).astype(np.float32)
    return x


def compare_array(x: Array, scheme: Scheme, found: Compared) -> None:
    """A whole array, group by group: equal scales, zeros, codes and meanings, or a refusal by both."""
    extent = Extent(*x.shape)
    try:
        scales, codes = encode_all([float(v) for v in x.ravel()], extent, scheme)
    except Refused as refusal:
        try:
            quantizers.encode(x, scheme)
        except Refused:
            return
        found.differ(f"{scheme.name}: the spec refuses ({refusal}), the reference does not")
        return
    seen = quantizers.encode(x, scheme)
    found.values += x.size
    found.scales += len(scales)
    _compare_scales(scheme, [s.stored for s in scales], seen.scales.scale, "scale", found)
    if seen.scales.zero is not None:
        _compare_scales(scheme, [s.zero for s in scales], seen.scales.zero, "zero", found)
    theirs, ours = one_nan(seen.codes.ravel(), scheme), one_nan(np.array(codes, np.int64), scheme)
    if (theirs != ours).any():
        at = int(np.flatnonzero(theirs != ours)[0])
        found.differ(f"{scheme.name}: code of {float(x.ravel()[at])!r} is {seen.codes.ravel()[at]}, spec {codes[at]}")


def one_nan(codes: NDArray[Any], scheme: Scheme) -> NDArray[np.int64]:
    """Codes in which all patterns of NaN are one: its sign and payload mean nothing (IEEE 754-2019, 6.2)."""
    wide = np.asarray(codes, np.int64)
    if isinstance(scheme.codes, IntegerCodes):
        return wide
    largest = to_bits(scheme.codes.largest, scheme.codes)
    infinity = scheme.codes.infinity_bits if scheme.codes.has_infinity else -1
    size = wide & 0x7F
    return np.where((size > largest) & (size != infinity), scheme.codes.nan_bits, wide)


def _compare_scales(scheme: Scheme, spec: list[Fraction], seen: Array, what: str, found: Compared) -> None:
    theirs = [Fraction(float(v)) for v in seen.ravel()]
    if theirs != spec:
        at = next(i for i, (a, b) in enumerate(zip(theirs, spec, strict=True)) if a != b)
        found.differ(f"{scheme.name}: {what} of group {at} is {theirs[at]}, spec {spec[at]}")


def specials(scheme: Scheme) -> Compared:
    """NaN, infinities, both zeros and numbers beyond the codes, beside one anchor; decoded values too."""
    found = Compared()
    x = np.array([[[448.0, np.nan, np.inf, -np.inf, -0.0, 0.0, 2.0**-149, -(2.0**-20)]]], np.float32)
    if not isinstance(scheme.codes, FloatFormat):
        x[0, 0, 1:4] = 1.0
    compare_array(x, scheme, found)
    one = quantizers.encode(x, scheme)
    meant = quantizers.decode(one, scheme).ravel()
    scale = scale_of([float(v) for v in x.ravel()], scheme)
    for code, value in zip(one.codes.ravel(), meant, strict=True):
        spec = decode(int(code), scale, scheme)
        number = rational(spec)
        same = np.isnan(value) if spec is Special.NAN else number is None or Fraction(float(value)) == number
        if not same:
            found.differ(f"{scheme.name}: code {int(code)} means {value} in the reference, {spec} in the spec")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print one line for each scheme; the exit code is 1 if any code or scale differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="take only every so many-th anchor")
    parser.add_argument("--trials", type=int, default=5, help="arrays of fp32 adversaries for each named scheme")
    options = parser.parse_args(arguments)
    begun, total = time.monotonic(), Compared()
    for scheme in bases():
        for format in FORMATS:
            _tell(scheme.name, format, every_input(format, scheme, options.every), total)
    for scheme in SCHEMES.values():
        _tell(scheme.name, "fp32", adversaries(scheme, 1, options.trials), total)
        _tell(scheme.name, "specials", specials(scheme.per(Granularity.TENSOR)), total)
    print(
        f"{total.values:,} values, {len(total.differences)} differences between specification and reference, "
        f"{time.monotonic() - begun:.0f} s"
    )
    return 1 if total.differences else 0


def _tell(name: str, what: str, found: Compared, total: Compared) -> None:
    total.values += found.values
    total.differences += found.differences
    counted = f"{found.values:11,} values  {found.scales:6,} scales  {len(found.differences)} differences"
    print(f"{name:16} {what:9} {counted}", flush=True)
    for text in found.differences[:3]:
        print(f"    {text}")


if __name__ == "__main__":
    sys.exit(main())
