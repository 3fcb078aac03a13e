"""Check the kernels on this machine's GPU, then time them: `python optimized/benchmarks/run.py`.

Nothing needs to be installed but torch, Triton and NumPy; kernels of others are timed where they are. It ends within
`--minutes` (8 by default) and prints what it left out. Exit status: 0, or 1 where a kernel is wrong (nothing is timed
then) or one of ours cannot be timed. Without a GPU nothing can be timed; the checks run on tiny shapes in the
interpreter.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("", "spec", "reference", "optimized", "conformance")]

# The folders of this repository are on the path only now.
import torch  # noqa: E402

from benchmarks import contenders, correctness, ours, table, timing  # noqa: E402
from benchmarks.problems import Problem, build  # noqa: E402
from benchmarks.samples import FULL, TINY  # noqa: E402
from benchmarks.shapes import Shape, standard  # noqa: E402
from benchmarks.wrapping import Contender, NotThere  # noqa: E402

SAME = 2.0**-5
"""Outputs of another kernel that differ by more, at values of about 1, are of another computation."""
SAME_FP8 = 2.0**-4
"""The same where a kernel may round weights to e4m3, which has four bits."""


def main(arguments: list[str]) -> int:
    """Check, time, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--correctness-only", action="store_true", help="check and do not time")
    parser.add_argument("--minutes", type=float, default=8.0, help="when to stop starting new shapes")
    parser.add_argument("--save", action="store_true", help="write the table into RESULTS.md, row by row")
    parser.add_argument("--only", default="", help="shapes whose description contains this text")
    chosen = parser.parse_args(arguments)
    end = time.monotonic() + 60 * chosen.minutes
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu":
        print("There is no GPU here, so nothing can be timed: the checks run on tiny shapes in the interpreter.")
    if not right(device):
        print("A kernel is wrong on this device, so nothing was timed.")
        return 1
    if device.type == "cuda" and not chosen.correctness_only:
        return 0 if timed(device, end, chosen.only, save=chosen.save) else 1
    return 0


def right(device: torch.device) -> bool:
    """Run every check, print its answer, and say whether all are good."""
    size, good = TINY if device.type == "cpu" else FULL, True
    for name, check in correctness.checks(device, size):
        begin = time.monotonic()
        try:
            fine, note = check(), ""
        except Exception:  # a kernel that does not compile or run is wrong, and the others are still to be checked
            fine, note = False, traceback.format_exc()
        print(f"{'right' if fine else 'WRONG':6} {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        print(note, end="")
        good &= fine
    return good


def timed(device: torch.device, end: float, only: str, *, save: bool) -> bool:
    """Time every shape until `end`, keep each row as it comes, and say whether ours could be timed in all of them.

    A row that fails says so, and the next one is tried, unless the device answers no more.
    """
    cold, bandwidth = timing.cold_bytes(device), timing.copy_bandwidth(device)
    print(f"\n{torch.cuda.get_device_name()}, {table.versions()}; copy {bandwidth / 1e12:.2f} TB/s\n")
    print(table.line((*table.HEADER, *contenders.CONTENDERS)))
    wanted = list(shapes(only))
    rows: list[table.Measured] = []
    lost = False
    while len(rows) < len(wanted) and time.monotonic() < end and not lost:
        rows.append(row(wanted[len(rows)], device, cold))
        print(table.line(rows[-1].cells(bandwidth)), flush=True)
        if save:
            left = len(wanted) - len(rows)
            table.save(table.document(rows, bandwidth, list(contenders.CONTENDERS), left))
        lost = not answers()
    if lost:
        print("The device answers no more.")
    if len(rows) < len(wanted):
        print(f"{len(wanted) - len(rows)} shapes were left out")
    return not lost and not any(measured.failed for measured in rows)


def shapes(only: str) -> Iterator[Shape]:
    """What is timed, in order of interest."""
    for shape in standard():
        if only in f"{shape.operation} {shape.name} {shape.heads} {shape.format}":
            yield shape


def row(shape: Shape, device: torch.device, cold: int) -> table.Measured:
    """One shape, measured or with the reason why not, and the memory that it took given back."""
    try:
        return measure(build(shape, device, cold))
    except Exception as error:  # a fault or too little memory costs its own row, not the table
        traceback.print_exc()
        return table.Measured(shape, f"failed: {type(error).__name__}")


def answers() -> bool:
    """Whether the device still works: after an illegal access it does nothing more for this process."""
    try:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    except Exception:  # the fault of an earlier call is reported here again
        return False
    return True


def measure(problem: Problem) -> table.Measured:
    """Our kernel and those of others on one problem."""
    calls = ours.calls(problem)
    result = calls[0]()
    seconds = timing.seconds_per_call(calls)
    others: dict[str, timing.Timed | str] = {}
    for name, make in contenders.CONTENDERS.items():
        others[name] = _other(make, problem, result.float()) if problem.shape.attends else "attention only"
    return table.Measured(problem.shape, seconds, others)


def _other(make: Contender, problem: Problem, wanted: torch.Tensor) -> timing.Timed | str:
    try:
        calls = make(problem)
        found = calls[0]().float().reshape(wanted.shape)
        same = SAME_FP8 if problem.shape.format == "e4m3" else SAME
        if not torch.allclose(found, wanted, rtol=same, atol=same * float(wanted.abs().max())):
            return "computes something else"
        return timing.seconds_per_call(calls)
    except NotThere as reason:
        return str(reason)
    except Exception as error:  # whatever a stranger's kernel raises says that it could not be timed
        return f"failed: {type(error).__name__}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
