"""Tries a mutant in a process of its own, which has imported nothing of ours before the mutant takes its place."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tests.mutation.killers import kill
from tests.mutation.mutants import Mutant, path_of

MEMORY = 8 << 30
"""Bytes of address space: a mutant that never stops growing ends here."""


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: `how` is the kind of killer, `survived` or `timeout`; `seen` is what was noticed."""

    how: str
    seen: str = ""
    cpu: float = 0.0
    """Seconds of CPU."""


class _Loader(SourceFileLoader):
    def __init__(self, module: str, source: str) -> None:
        super().__init__(module, str(path_of(module)))
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        """The mutant's code, never a cached one."""
        return compile(self.source, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The mutant where its module is asked for."""
        if fullname != self.mutant.module:
            return None
        loader = _Loader(fullname, self.mutant.source)
        return importlib.util.spec_from_file_location(fullname, loader.path, loader=loader)


def warm_up() -> None:
    """Import what every mutant needs and is not ours."""
    for name in ("hypothesis.strategies", "msgspec", "numpy", "pytest", "rich.console", "typer"):
        importlib.import_module(name)
    gc.disable()


def try_mutant(mutant: Mutant, corpus: Path, seconds: int) -> Fate:
    """Let the killers at it, for at most so many seconds of CPU."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _inside(mutant, corpus, seconds, writer)
    os.close(writer)
    with os.fdopen(reader) as answers:
        answer = answers.read()
    _, status, used = os.wait4(child, 0)
    cpu = round(used.ru_utime + used.ru_stime, 2)
    if answer:
        return Fate(*json.loads(answer), cpu=cpu)
    timed_out = os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGXCPU, signal.SIGKILL}
    return Fate("timeout", f"{seconds} s of CPU", cpu) if timed_out else Fate("crash", f"status {status}", cpu)


def _inside(mutant: Mutant, corpus: Path, seconds: int, writer: int) -> None:
    """The child: never returns."""
    try:
        if strangers := [name for name in sys.modules if name.partition(".")[0] in {"kvspec", "kvreference"}]:
            raise RuntimeError(f"{strangers[0]} was imported before the mutant")
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        sys.meta_path.insert(0, _Finder(mutant))
        killed = kill(mutant.module, corpus)
        os.write(writer, json.dumps(killed or ("survived", "")).encode())
    except BaseException as error:
        os.write(writer, json.dumps(("crash", repr(error)[:200])).encode())
    finally:
        os._exit(0)
