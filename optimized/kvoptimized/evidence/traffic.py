"""Bytes that the kernels move, over the least that any kernel could move.

`python -m kvoptimized.evidence.traffic [operation ...]` prints one line per shape, by the counts of the interpreter;
the last line is the summary. Every module of `traffic_rows` gives the rows of one operation. Exit status: 0 where all
are within their ceilings, 1 where one is beyond, 2 for an operation that has no rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from kvoptimized.evidence import traffic_rows


@dataclass(frozen=True, slots=True)
class Row:
    """One shape of one operation: `moved` bytes against the `least` possible, and the `ceiling` of their ratio."""

    operation: str
    shape: str
    moved: int
    least: int
    ceiling: float

    @property
    def ratio(self) -> float:
        """Moved over least; infinite where nothing had to be moved."""
        return self.moved / self.least if self.least else float("inf")

    @property
    def within(self) -> bool:
        """Whether the ratio keeps to its ceiling."""
        return self.ratio <= self.ceiling

    def __str__(self) -> str:
        numbers = f"{self.moved:>12,} {self.least:>12,} {self.ratio:7.3f} {self.ceiling:7.3f}"
        return f"{self.operation:10} {self.shape:60} {numbers}{'' if self.within else '  beyond its ceiling'}"


HEADER = f"{'operation':10} {'shape':60} {'moved':>12} {'least':>12} {'ratio':>7} {'ceiling':>7}"


def operations() -> list[str]:
    """Names of the modules with rows, in order."""
    return sorted(module.name for module in iter_modules(traffic_rows.__path__))


def collect(names: Iterable[str]) -> Iterator[Row]:
    """The rows of these operations, each computed when it is asked for."""
    for name in names:
        yield from import_module(f"{traffic_rows.__name__}.{name}").rows()


def summary(rows: Sequence[Row]) -> str:
    """One line: how many rows, the worst ratio of each operation, and whether all keep to their ceilings."""
    worst: dict[str, float] = {}
    for row in rows:
        worst[row.operation] = max(row.ratio, worst.get(row.operation, 0.0))
    ratios = "".join(f", worst {operation} {ratio:.2f}" for operation, ratio in worst.items())
    beyond = sum(not row.within for row in rows)
    verdict = f"{beyond} beyond their ceilings" if beyond else "all within their ceilings"
    return f"traffic: {len(rows)} rows{ratios}, {verdict}"


def main(arguments: list[str]) -> int:
    """Print the table."""
    known = operations()
    if unknown := [name for name in arguments if name not in known]:
        print(f"no rows for {unknown[0]}; there are {', '.join(known) or 'none yet'}", file=sys.stderr)
        return 2
    print(HEADER)
    rows = []
    for row in collect(arguments or known):
        print(row, flush=True)
        rows.append(row)
    print(summary(rows))
    return int(not all(row.within for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
