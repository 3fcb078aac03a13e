"""Keys, states of small worlds, recorded traffic, and what a search finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from kvexamine.explorer.catalogue import find
from kvexamine.explorer.run import explore_one
from kvspec.keys import key_chain
from kvspec.vocabulary import KeyParts
from tests.portable.vectors import Bits

SCOPES = ("exact-hit", "groups-state", "tree-locks")
IMPOSTERS = ("prefix:PublishesAtSchedule", "hits:SuffixWrittenOverThePrefix", "trees:ParentsAreNotReconsidered")
EXAMPLES = "60"


def keys() -> Bits:
    """The chain of a prompt, and that of another tenant."""
    for parts in (KeyParts(), KeyParts(salt="İı", adapter="a", adapter_version=3)):
        yield f"keys {parts.salt}", b"".join(key_chain(range(1000), 16, parts))


def explored() -> Bits:
    """What there is to say of whole scopes but the time."""
    for name in SCOPES:
        result = explore_one(find(name))
        yield f"scope {name}", repr((result.states, result.transitions, result.depth, result.longest)).encode()


def recorded() -> Bits:
    """Busy traffic of the reference, event by event."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        _kvspec(0, "record", "reference", str(path), "--seed", "5")
        yield "trace of the reference", path.read_bytes()


def found() -> Bits:
    """What a search of a seed finds in three imposters, and in the reference: histories, sentences, counts."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        for name in IMPOSTERS:
            engine = f"kvconformance.imposters.{name}"
            _kvspec(1, "check", engine, "--examples", EXAMPLES, "--seed", "7", "--json", str(path))
            yield f"findings in {name}", _timeless(path)
        _kvspec(0, "check", "reference", "--surface", "pool", "--examples", EXAMPLES, "--json", str(path))
        yield "findings in the reference", _timeless(path)


def _kvspec(status: int, *arguments: str) -> None:
    """Runs a command in this environment. Raises `RuntimeError` with what it printed if it ends otherwise."""
    command = [sys.executable, "-m", "kvconformance.cli", *arguments]
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ)
    if done.returncode != status:
        printed = (done.stdout + done.stderr).decode(errors="replace")
        raise RuntimeError(f"kvspec {' '.join(arguments)} ended with {done.returncode}, not {status}:\n{printed}")


def _timeless(path: Path) -> bytes:
    """A report without what it took."""
    return msgspec.json.encode(_without(msgspec.json.decode(path.read_bytes()), "seconds"), order="sorted")


def _without(report: Any, field: str) -> Any:
    if isinstance(report, dict):
        return {name: _without(value, field) for name, value in report.items() if name != field}
    return [_without(value, field) for value in report] if isinstance(report, list) else report
