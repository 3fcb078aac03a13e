"""Measurements as lines to print and as a table to keep."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import metadata
from pathlib import Path

import torch

from benchmarks.problems import least_bytes
from benchmarks.shapes import Shape, goal
from benchmarks.timing import Timed

RESULTS = Path(__file__).with_name("RESULTS.md")
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
NOTHING = "**Nothing has been timed on a GPU yet.**"
"""How what stands between the marks begins until something has been."""
PACKAGES = ("torch", "triton", "flashinfer-python", "flash-attn", "flash-attn-3", "vllm")
HEADER = ("shape", "heads", "cache", "us", "TB/s", "of copy", "TFLOP/s", "goal us")


@dataclass(frozen=True, slots=True)
class Measured:
    """One shape: the time of our kernel and of others, or why there is none."""

    shape: Shape
    ours: Timed | str
    others: dict[str, Timed | str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether our kernel could not be timed."""
        return isinstance(self.ours, str)

    def cells(self, bandwidth: float) -> list[str]:
        """A cell for each column of `HEADER`, and of others."""
        shape = self.shape
        named = [f"{shape.operation} {shape.name}", str(shape.heads), shape.format]
        return [*named, *self._own(bandwidth), *(self._other(other) for other in self.others.values())]

    def _own(self, bandwidth: float) -> list[str]:
        """Time, TB/s, share of the measured copy bandwidth, TFLOP/s, and the goal with our time over it."""
        if isinstance(self.ours, str):
            return [self.ours, "", "", "", ""]
        seconds, least = self.ours.seconds, least_bytes(self.shape)
        rate, aim = least / seconds, goal(self.shape, least)
        return [
            str(self.ours),
            f"{rate / 1e12:.2f}",
            f"{rate / bandwidth:.2f}",
            f"{self.shape.flops / seconds / 1e12:.0f}" if self.shape.attends else "",
            "" if aim is None else f"{aim * 1e6:.1f} ({seconds / aim:.2f}x)",
        ]

    def _other(self, other: Timed | str) -> str:
        if isinstance(other, str) or isinstance(self.ours, str):
            return str(other)
        return f"{other} ({other.seconds / self.ours.seconds:.2f}x)"


def line(cells: Iterable[str]) -> str:
    """One line of the printed table."""
    widths = (56, 12, 6, 18, 6, 8, 8, 16)
    padded = [f"{cell} ".ljust(width) for cell, width in zip(cells, (*widths, *(28,) * 9), strict=False)]
    return "".join(padded).rstrip()


def document(rows: Sequence[Measured], bandwidth: float, others: Sequence[str], left: int) -> str:
    """The table in Markdown with card, date and versions."""
    head = [*HEADER, *others]
    table = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = row.cells(bandwidth)
        table.append("| " + " | ".join(cells + [""] * (len(head) - len(cells))) + " |")
    missing = f" {left} shapes were left out." if left else ""
    return "\n".join(
        [
            f"{date.today().isoformat()}, {torch.cuda.get_device_name()}, {versions()}. Copy bandwidth measured with "
            f"torch's `copy_` of a gigabyte: {bandwidth / 1e12:.2f} TB/s, read and written. CUDA graphs, rotating "
            f"batches, cold level-2 cache, medians. Goal: microseconds, and our time over it. Others: microseconds, "
            f"and their time over ours.{missing}",
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
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
