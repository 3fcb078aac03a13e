"""`make portable`: the vectors and the numeric tests in every environment that this machine can run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Annotated

import typer
from rich.progress import Progress

from tests.portable.comparing import ROOT, computed_in, differences, keep, kept_digests
from tests.portable.environments import Environment, environments
from tests.portable.vectors import Results

ROOMS = {
    "optimized": "cascade copy decode dequantize memory_and_numbers merge prefill slots write",
    "optimized/interpreter": "arithmetic casts order ptx reductions",
    "reference": "attention own_arithmetic paged_cache quantizers tolerance",
    "conformance": "attention_factored attention_quantized quantizer quantizer_pinned",
    "spec": "floats quantize",
}
NUMERIC = [f"tests/{room}/test_{name}.py" for room, names in ROOMS.items() for name in names.split()]
"""The tests whose numbers a processor could change."""


def main(
    vectors_only: Annotated[bool, typer.Option("--vectors-only", help="Compare bits, and run no tests.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Keep the bits of this machine in kept.json.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", help="Only environments of this name.")] = None,
) -> None:
    """Compute everything that is said to be equal in many environments, compare the bits, and run the numeric tests.

    Exit status: 0 all equal and all tests passed, 1 otherwise.
    """
    wanted = [environment for environment in environments() if not only or environment.name in only]
    if not wanted:
        raise typer.BadParameter(f"there are: {', '.join(e.name for e in environments())}", param_hint="--only")
    results: dict[str, Results] = {}
    failed: list[str] = []
    passed = []
    with Progress(disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=len(wanted))
        for environment in wanted:
            progress.update(task, description=environment.name)
            results[environment.name] = computed_in(environment, searching=True)
            if not vectors_only:
                count, output = _tested(environment)
                passed.append(count)
                failed += [f"tests fail in '{environment.name}':\n{output}"] if output else []
            typer.echo(
                f"{environment.name}: {_told(results[environment.name])}"
                + ("" if vectors_only else f", {passed[-1]} tests passed")
            )
            progress.advance(task)
    if record:
        keep(next(iter(results.values())))
    problems = [*differences(kept_digests(), results), *failed]
    for problem in problems:
        typer.echo(f"✗ {problem}")
    typer.echo(_summary(results, passed, len(problems)))
    raise typer.Exit(bool(problems))


def _tested(environment: Environment) -> tuple[int, str]:
    """How many numeric tests passed, and the end of what was printed if any failed."""
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", *NUMERIC]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment.of(os.environ), check=False)
    printed = done.stdout.decode(errors="replace")
    count = re.search(r"(\d+) passed", printed)
    return int(count[1]) if count else 0, printed[-4000:] if done.returncode or not count else ""


def _told(results: Results) -> str:
    return f"{len(results.kept) + len(results.local)} vectors, {len(results.certified)} intervals"


def _summary(results: dict[str, Results], passed: list[int], problems: int) -> str:
    tests = f", {min(passed)} tests passed in each" if passed else ""
    first = next(iter(results.values()))
    return f"portable: {len(results)} environments, {_told(first)} in each{tests}, {problems} problems"


if __name__ == "__main__":
    typer.run(main)
