"""Check the kernels on this machine's GPU, then time them: `python optimized/benchmarks/run.py`.

Nothing needs to be installed but torch, Triton and NumPy; kernels of others are timed where they are. It ends within
`--minutes` (8 by default) and prints what it left out. Exit status: 0, or 1 where a kernel is wrong: nothing is timed
then. Without a GPU nothing can be timed; the checks run on tiny shapes in the interpreter.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("", "spec", "reference", "optimized", "conformance")]

# The folders of this repository are on the path only now.
import torch  # noqa: E402

from benchmarks import correctness, table, timing  # noqa: E402
from benchmarks.contenders import CONTENDERS, Calls, NotThere, ours  # noqa: E402
from benchmarks.problems import Problem, build  # noqa: E402
from benchmarks.shapes import Shape, decodes, prefills  # noqa: E402

SAME = 2.0**-5
"""Outputs of another kernel that differ by more, at values of about 1, are of another computation."""


def main(arguments: list[str]) -> int:
    """Check, time, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--correctness-only", action="store_true", help="check and do not time")
    parser.add_argument("--minutes", type=float, default=8.0, help="when to stop starting new shapes")
    parser.add_argument("--save", action="store_true", help="write the table into RESULTS.md")
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
        timed(device, end, chosen.only, save=chosen.save)
    return 0


def right(device: torch.device) -> bool:
    """Run every check, print its answer, and say whether all are good."""
    size, good = correctness.TINY if device.type == "cpu" else correctness.FULL, True
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


def timed(device: torch.device, end: float, only: str, *, save: bool) -> None:
    """Time every shape until `end`."""
    cold, bandwidth = timing.cold_bytes(device), timing.copy_bandwidth(device)
    print(f"\n{torch.cuda.get_device_name()}, {table.versions()}; copy {bandwidth / 1e12:.2f} TB/s\n")
    print(table.line((*table.HEADER, *CONTENDERS)))
    rows, left = [], 0
    for shape in shapes(only):
        if time.monotonic() > end:
            left += 1
            continue
        rows.append(measure(build(shape, device, cold)))
        print(table.line(rows[-1].cells(bandwidth)), flush=True)
        torch.cuda.empty_cache()
    if left:
        print(f"{left} shapes were left out for lack of time")
    if save:
        table.save(table.document(rows, bandwidth, list(CONTENDERS), left))


def shapes(only: str) -> Iterator[Shape]:
    """What is timed, in order of interest."""
    for shape in (*decodes(), *prefills()):
        if only in f"{shape.operation} {shape.name} {shape.heads} {shape.format}":
            yield shape


def measure(problem: Problem) -> table.Measured:
    """Our kernel and those of others on one problem."""
    calls = ours(problem)
    wanted = calls[0]().float()
    seconds = timing.seconds_per_call(calls)
    others = {name: _other(make, problem, wanted) for name, make in CONTENDERS.items()}
    return table.Measured(problem.shape, seconds, problem.least_bytes, others)


def _other(make: Callable[[Problem], Calls], problem: Problem, wanted: torch.Tensor) -> float | str:
    try:
        calls = make(problem)
        found = calls[0]().float().reshape(wanted.shape)
        if not torch.allclose(found, wanted, rtol=SAME, atol=SAME * float(wanted.abs().max())):
            return "computes something else"
        return timing.seconds_per_call(calls)
    except NotThere as reason:
        return str(reason)
    except Exception as error:  # whatever a stranger's kernel raises says that it could not be timed
        return f"failed: {type(error).__name__}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
