"""Running the vectors in environments, and saying what differs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from tests.portable.environments import Environment
from tests.portable.vectors import Results

KEPT = Path(__file__).with_name("kept.json")
ROOT = Path(__file__).parents[2]
KERNELS = ("decode", "prefill", "cascade", "write", "copy", "merge", "slots")
"""How the names of vectors begin that only torch and Triton compute."""


def computed_in(environment: Environment, *, searching: bool) -> Results:
    """The vectors, computed by a process in `environment`. Raises `RuntimeError` with what it printed if it fails."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        command = [sys.executable, "-m", "tests.portable.vectors", str(path), *(["searching"] if searching else [])]
        done = subprocess.run(
            command, capture_output=True, cwd=ROOT, env=environment.of(os.environ), check=False, timeout=1800
        )
        if done.returncode:
            raise RuntimeError(f"{environment.name}: the vectors failed\n{done.stderr.decode(errors='replace')}")
        return msgspec.json.decode(path.read_bytes(), type=Results)


def kept_digests() -> dict[str, str]:
    """What another machine computed, by name."""
    return msgspec.json.decode(KEPT.read_bytes(), type=dict[str, str])


def keep(results: Results) -> None:
    """Keep the digests of this machine; a new bit is a change that the history of the file shows."""
    KEPT.write_bytes(msgspec.json.format(msgspec.json.encode(results.kept, order="sorted"), indent=1) + b"\n")


def differences(kept: Mapping[str, str], results: Mapping[str, Results]) -> Iterator[str]:
    """One line for each result that is not what it is elsewhere; `results` by the name of their environment."""
    (first, base), *others = results.items()
    for name in sorted(kept.keys() ^ base.kept.keys()):
        if name in base.kept or not _needs_torch(name, base):
            yield f"{name} is {'not kept' if name in base.kept else 'kept and not computed'}"
    for environment, here in results.items():
        yield from (f"{name} differs in '{environment}'" for name in _unlike(kept, here.kept))
    for environment, here in others:
        yield from (f"{name} differs between '{first}' and '{environment}'" for name in _unlike(base.local, here.local))
        for name, (low, high) in here.certified.items():
            if not _meet(base.certified[name], (low, high)):
                yield f"{name}: the intervals of '{first}' and '{environment}' do not meet"


def _needs_torch(name: str, results: Results) -> bool:
    return name.startswith(KERNELS) and not any(other.startswith(KERNELS) for other in results.kept)


def _unlike(wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterable[str]:
    return sorted(name for name in wanted.keys() & found.keys() if wanted[name] != found[name])


def _meet(one: tuple[list[float], list[float]], other: tuple[list[float], list[float]]) -> bool:
    pairs = zip(*one, *other, strict=True)
    return all(max(low, other_low) <= min(high, other_high) for low, high, other_low, other_high in pairs)
