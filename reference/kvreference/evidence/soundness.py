"""Stress of the certificates: low-precision kernels against T1, its exact worst case, and T2.

`python -m kvreference.evidence.soundness [outputs] [seed]` judges at least that many outputs (1,000,000) and prints
the violations (there must be none) and the largest share of a tolerance that was used.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from kvreference.arrays import Float
from kvreference.attention import Row
from kvreference.evidence.kernels import Kernel, nearest, pushed
from kvreference.evidence.rows import random_row, rounding_adversary
from kvreference.roundings import format_named, round_to
from kvreference.tolerance.certificates import Certificate, t1, t2
from kvreference.tolerance.declaration import Declaration


@dataclass
class Count:
    """Outputs judged by one certificate, those outside, and the largest error over tolerance."""

    outputs: int = 0
    violations: int = 0
    outside_interval: int = 0
    worst: float = 0.0

    def add(self, output: Float, certificate: Certificate, stored: str) -> None:
        """Judge one row before and after the cast to the stored format."""
        error = np.abs(output - certificate.output)
        self.outputs += error.size
        self.violations += int((~(error <= certificate.tolerance)).sum())
        self.outside_interval += not certificate.allows(round_to(output, format_named(stored)), stored)
        known = certificate.tolerance > 0
        self.worst = max(self.worst, float((error[known] / certificate.tolerance[known]).max(initial=0.0)))


@dataclass
class Stress:
    """The counts of a run, by certificate and by kernel."""

    counts: dict[str, Count] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        """Outputs of kernels; each is judged by several certificates."""
        return sum(count.outputs for name, count in self.counts.items() if name.startswith("T1,"))

    @property
    def violations(self) -> int:
        """Outputs outside a tolerance or an interval."""
        return sum(count.violations + count.outside_interval for count in self.counts.values())

    def judge(self, row: Row, declaration: Declaration, kernel: Kernel) -> None:
        """Run one kernel on one row and judge it by every certificate that applies."""
        output = kernel(row, declaration)
        hidden = replace(declaration, kv_tile=None)
        found = {"T1": t1(row, declaration), "box": t1(row, declaration, box=True), "T1 no tile": t1(row, hidden)}
        if declaration.p is not None:
            found["T2"] = t2(row, declaration)
        for name, certificate in found.items():
            key = f"{name}, {kernel.__name__}"
            self.counts.setdefault(key, Count()).add(output, certificate, declaration.output)


def random_declaration(rng: np.random.Generator, stored: str, accumulation: float) -> Declaration:
    """A kernel for inputs in the format `stored`."""
    narrow = None if stored == "fp32" else str(rng.choice([stored, stored, "e4m3fn"]))
    return Declaration(
        output=stored,
        p=None if rng.random() < 0.2 else narrow,
        accumulation=accumulation,
        exact_products=stored != "fp32",
        kv_tile=int(rng.choice([16, 32, 64, 128])),
        splits=int(rng.integers(1, 8)) if rng.random() < 0.6 else 1,
        split_tokens=int(rng.choice([64, 128])) if rng.random() < 0.2 else None,
        partial=str(rng.choice(["fp32", stored])),
    )


def trials(rng: np.random.Generator) -> Iterator[tuple[Row, Declaration, Kernel]]:
    """Rows, declarations and kernels without end: one in twelve is pushed, one in forty meets ties of P."""
    while True:
        stored = str(rng.choice(["bf16", "fp16", "fp32"]))
        if rng.random() < 1 / 40:
            row = rounding_adversary(int(rng.integers(2, 1024)))
            yield row, replace(random_declaration(rng, "bf16", 2.0**-24), p="bf16"), nearest
        elif rng.random() < 1 / 12:
            row = random_row(rng, stored, longest=200)
            yield row, random_declaration(rng, stored, 2.0**-23), pushed
        else:
            yield random_row(rng, stored), random_declaration(rng, stored, 2.0**-24), nearest


def stress(outputs: int, seed: int, progress: bool = False) -> Stress:
    """Judge at least `outputs` outputs."""
    found, begun, shown = Stress(), time.monotonic(), 0.0
    for row, declaration, kernel in trials(np.random.default_rng(seed)):
        found.judge(row, declaration, kernel)
        passed = time.monotonic() - begun
        if progress and passed > shown + 5:
            shown = passed
            print(f"{passed:4.0f} s  {found.outputs:,} of {outputs:,}, {found.violations} violations", flush=True)
        if found.outputs >= outputs:
            return found
    return found


def main(arguments: list[str]) -> int:
    """Print the counts; the exit status is 1 where a certificate was violated."""
    outputs = int(arguments[0]) if arguments else 1_000_000
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    found = stress(outputs, seed, progress=True)
    for name, count in sorted(found.counts.items()):
        print(
            f"{name:20} {count.outputs:9,} outputs  {count.violations} violations  "
            f"{count.outside_interval} rows outside the interval  worst error/tolerance {count.worst:.3f}"
        )
    print(f"soundness: {found.outputs:,} outputs, {found.violations} violations (seed {seed})")
    return int(found.violations > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
