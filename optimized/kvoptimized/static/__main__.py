"""`python -m kvoptimized.static [operation ...] [--target sm_90] [--jobs 2] [--record]`: compile, count, compare.

The last line is the summary. Exit status: 0 where all is within its ceilings, 1 where something is not, 2 for an
operation or a target that is not there.
"""

from __future__ import annotations

import argparse
import os
import sys

from kvoptimized.static import ceilings
from kvoptimized.static.compiling import fresh_cache
from kvoptimized.static.registry import TARGETS, operations, registered
from kvoptimized.static.table import HEADER, lines, summary


def main(arguments: list[str]) -> int:
    """Print the table, and record new ceilings where asked to."""
    parser = argparse.ArgumentParser(prog="python -m kvoptimized.static", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("operation", nargs="*", choices=[*operations(), []], help="what to compile; all by default")
    parser.add_argument("--target", action="append", choices=TARGETS, help="compile for this one only; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one per core by default")
    parser.add_argument("--record", action="store_true", help="record what is measured as the new ceilings")
    chosen = parser.parse_args(arguments)
    bounds = ceilings.load()
    table = []
    print(HEADER)
    with fresh_cache():
        chosen_ones, targets = registered(chosen.operation or None), chosen.target or TARGETS
        for line in lines(chosen_ones, targets, {} if chosen.record else bounds, max(1, chosen.jobs)):
            print(line, flush=True)
            table.append(line)
    if chosen.record:
        new = {(line.specialisation.name, line.target): ceilings.ceiling_of(line.found) for line in table if line.found}
        known = {(each.name, target) for each in registered() for target in each.targets}
        ceilings.save({key: bound for key, bound in (bounds | new).items() if key in known})
        print(f"recorded {len(new)} ceilings")
        return 0
    print(summary(table))
    return int(any(line.wrong for line in table))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
