"""Measurements as lines to print and as a table to keep."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import metadata
from pathlib import Path

import torch

from benchmarks.shapes import Shape

RESULTS = Path(__file__).with_name("RESULTS.md")
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
PACKAGES = ("torch", "triton", "flashinfer-python", "flash-attn", "flash-attn-3", "vllm")


@dataclass(frozen=True, slots=True)
class Measured:
    """One shape: seconds of our kernel, bytes that must move, and seconds of others, or why there are none."""

    shape: Shape
    seconds: float
    least_bytes: int
    others: dict[str, float | str] = field(default_factory=dict)

    def cells(self, bandwidth: float) -> list[str]:
        """Shape, time, TB/s, share of the measured copy bandwidth, TFLOP/s, and ratios of others' time to ours."""
        rate = self.least_bytes / self.seconds
        shape = self.shape
        return [
            f"{shape.operation} {shape.name}",
            str(shape.heads),
            shape.format,
            f"{self.seconds * 1e6:.1f}",
            f"{rate / 1e12:.2f}",
            f"{rate / bandwidth:.2f}",
            f"{shape.flops / self.seconds / 1e12:.0f}",
            *(self._other(name) for name in self.others),
        ]

    def _other(self, name: str) -> str:
        other = self.others[name]
        return other if isinstance(other, str) else f"{other * 1e6:.1f} ({other / self.seconds:.2f}x)"


HEADER = ("shape", "heads", "cache", "us", "TB/s", "of copy", "TFLOP/s")


def line(cells: Iterable[str]) -> str:
    """One line of the printed table."""
    widths = (48, 12, 6, 9, 6, 8, 8)
    padded = [cell.ljust(width) for cell, width in zip(cells, (*widths, *(22,) * 9), strict=False)]
    return "".join(padded).rstrip()


def document(rows: Sequence[Measured], bandwidth: float, others: Sequence[str], left: int) -> str:
    """The table in Markdown with card, date and versions."""
    head = [*HEADER, *others]
    table = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    table += ["| " + " | ".join(row.cells(bandwidth)) + " |" for row in rows]
    missing = f" {left} shapes were left out for lack of time." if left else ""
    return "\n".join(
        [
            f"{date.today().isoformat()}, {torch.cuda.get_device_name()}, {versions()}. Copy bandwidth measured with "
            f"torch's `copy_` of a gigabyte: {bandwidth / 1e12:.2f} TB/s, read and written. CUDA graphs, rotating "
            f"batches, cold level-2 cache, medians. Others: microseconds, and their time over ours.{missing}",
            "",
            *table,
        ]
    )


def versions() -> str:
    """Python and the packages that are installed."""
    found = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def save(text: str, path: Path = RESULTS) -> None:
    """Put the table between the marks of a document."""
    before, _, rest = path.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
