"""Findings shown without kvspec: the scripts of an engine, each in a fork of one process that has its imports.

Engines take seconds to import, and their scripts tenths of a second to run. The process that they are forked from knows
nothing of kvspec: run as a program, this module imports what the scripts named on its command line import, and prints
what became of each as JSON.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

SECONDS = 300
ENGINES = Path(__file__).parents[2] / "conformance" / "kvengines"


@dataclass(frozen=True)
class Ran:
    """How a script ended, and what it printed."""

    status: int
    printed: str
    complained: str


@cache
def ran(scripts: tuple[Path, ...]) -> dict[Path, Ran]:
    """What became of each of the scripts, which share their imports."""
    command = [sys.executable, __file__, *map(str, scripts)]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    *_, told = done.stdout.splitlines()
    return {Path(name): Ran(*outcome) for name, outcome in json.loads(told).items()}


def scripts_of(*engines: str) -> list[Path]:
    """The finding scripts of some engines, by the names of their folders."""
    return [script for engine in engines for script in sorted((ENGINES / engine / "findings").glob("*.py"))]


def require_finding(scripts: Sequence[Path], script: Path) -> None:
    """The script ends with status 1 and says what it found, without a traceback."""
    outcome = ran(tuple(scripts))[script]
    assert outcome.status == 1, outcome.complained
    assert outcome.printed and "Traceback" not in outcome.complained


def imported(script: str) -> Iterator[str]:
    """The modules that a script imports at its top."""
    for node in ast.parse(Path(script).read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def fork(script: str) -> tuple[int, str, str]:
    """Run the script in a child: its status, and what it wrote to its outputs."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        if (child := os.fork()) == 0:
            become(script, out.fileno(), errors.fileno())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return status, *(_whole(file) for file in (out, errors))


def become(script: str, out: int, errors: int) -> NoReturn:
    """The child is the script, and ends with it."""
    os.dup2(out, 1)
    os.dup2(errors, 2)
    sys.argv, status = [script], 1
    try:
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _whole(file: tempfile._TemporaryFileWrapper[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        with suppress(ImportError):  # the script stands in for what is missing, or fails by itself
            for name in imported(wanted):
                importlib.import_module(name)
    print(json.dumps({wanted: fork(wanted) for wanted in sys.argv[1:]}))
