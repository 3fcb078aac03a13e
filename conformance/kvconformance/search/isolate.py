"""Runs a check in a child process: an engine that hangs or kills its process becomes a finding, not our crash.

Parent and child speak JSON over a pipe, validated on both sides. The child names each history in a journal file
before it runs it, so that the parent can tell which one was fatal. What the child leaves in its folder for temporary
files, because it is killed or ends without ceremony, goes with the parent's.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec

from kvconformance.history import History
from kvconformance.surfaces.registry import kind_of, named
from kvspec.vocabulary import Surface

MOST_BYTES = 64 << 20
"""Longest message that the parent reads from a child."""


class Told(msgspec.Struct, frozen=True, tag="told"):
    """A sign of life, with progress."""

    surface: Surface
    done: int
    wanted: int
    broken: list[str]


class Loaded(msgspec.Struct, frozen=True, tag="loaded"):
    """The engine is imported."""


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """The work is done, or a part of it."""

    data: msgspec.Raw
    last: bool = True


class Trouble(msgspec.Struct, frozen=True, tag="trouble"):
    """The work raised; `usage` where the user named something wrong."""

    kind: str
    text: str
    usage: bool


Message = Told | Loaded | Answer | Trouble


class Died(Exception):
    """The child ended without its last answer: how, during which history, and what it knew when that began."""

    def __init__(self, how: str, loaded: bool, path: Path) -> None:
        super().__init__(how)
        self.how, self.loaded = how, loaded
        self.entry, self.so_far = read_journal(path), read_so_far(path)


class Interrupted(KeyboardInterrupt):
    """The user stopped us: which history the child had begun, and what it knew then."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.entry, self.so_far = read_journal(path), read_so_far(path)


class ChildTrouble(Exception):
    """The child raised an exception of ours."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.text if trouble.usage else f"{trouble.kind}: {trouble.text}")
        self.usage = trouble.usage


@dataclass(frozen=True)
class Line:
    """The child's end: tells, answers and keeps the journal."""

    pipe: Connection
    path: Path

    def send(self, message: Message) -> None:
        """One message to the parent."""
        self.pipe.send_bytes(msgspec.json.encode(message))

    def answer(self, data: Any, *, last: bool = False) -> None:
        """A part of the answer: anything msgspec can encode."""
        self.send(Answer(msgspec.Raw(msgspec.json.encode(data)), last))

    def journal(self, surface: Surface, history: History, so_far: Any = None) -> None:
        """About to run this history; `so_far`, anything msgspec can encode, is not lost if it is fatal."""
        known = b"" if so_far is None else msgspec.json.encode(so_far)
        new = self.path.with_suffix(".new")
        new.write_bytes(b"\n".join((surface.value.encode(), history.to_json(), known, b"")))
        new.replace(self.path)  # whoever kills us finds a whole one


def in_child(
    work: Callable[[Line], None],
    on_answer: Callable[[bytes], None],
    on_told: Callable[[Told], None] | None = None,
    *,
    patience: float = 45.0,
    load_patience: float = 600.0,
) -> None:
    """Run `work(line)` in a forked child and hand each of its answers to `on_answer`.

    Raises `Died` where the child ends without a last answer or is silent for `patience` seconds (`load_patience`
    until it says that the engine is loaded), `ChildTrouble` where `work` raises, `Interrupted` where the user stops it.
    """
    context = multiprocessing.get_context("fork")
    # A grandchild that outlives the child may still write while the folder is removed.
    with tempfile.TemporaryDirectory(prefix="kvspec-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "journal"
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_serve, args=(work, Line(theirs, path)), daemon=False)
        child.start()
        theirs.close()
        try:
            _listen(child, ours, path, on_answer, on_told, patience, load_patience)
        except KeyboardInterrupt as stop:
            child.kill()
            child.join()
            raise Interrupted(path) from stop
        finally:
            if child.is_alive():
                child.kill()
            child.join()
            ours.close()


def _serve(work: Callable[[Line], None], line: Line) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    faulthandler.disable()  # a crash is told by the parent, not by a traceback in between
    _silence()
    single_threaded()
    _litter_in(line.path.parent / "tmp")
    try:
        work(line)
    except Exception as error:  # carried to the parent, which raises it
        line.send(Trouble(type(error).__name__, str(error)[:4000], bool(getattr(error, "usage", False))))
    os._exit(0)


def _litter_in(folder: Path) -> None:
    """Temporary files of this process, and of those that it starts, are made here; what torch compiles is kept."""
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", f"{tempfile.gettempdir()}/torchinductor-{os.getuid()}")
    folder.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def single_threaded() -> None:
    """In a fork: a parent's threads of torch do not exist here, and waiting for them would look like a hang."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def _silence() -> None:
    """Engines print; the report is ours. KVSPEC_ENGINE_OUTPUT=1 lets them."""
    if not os.environ.get("KVSPEC_ENGINE_OUTPUT"):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the child's whole life


def _listen(
    child: Any,
    pipe: Connection,
    path: Path,
    on_answer: Callable[[bytes], None],
    on_told: Callable[[Told], None] | None,
    patience: float,
    load_patience: float,
) -> None:
    loaded, heard = False, time.monotonic()
    while True:
        limit = patience if loaded else load_patience
        if not pipe.poll(min(0.2, limit)):
            if time.monotonic() - heard > limit:
                raise Died(f"does not answer within {limit:g} seconds and was killed", loaded, path)
            continue
        try:
            message = msgspec.json.decode(pipe.recv_bytes(MOST_BYTES), type=Message)
        except EOFError:
            child.join(10)
            raise Died(_how(child.exitcode), loaded, path) from None
        except _NO_MESSAGE as error:
            raise _scribbled(error) from error
        heard = time.monotonic()
        if isinstance(message, Trouble):
            raise ChildTrouble(message)
        if isinstance(message, Answer):
            try:
                on_answer(bytes(message.data))
            except _NO_MESSAGE as error:
                raise _scribbled(error) from error
            if message.last:
                return
        loaded = True
        if isinstance(message, Told) and on_told:
            on_told(message)


_NO_MESSAGE = (OSError, msgspec.MsgspecError, RecursionError)
"""What reading raises where somebody in the child's process has written into our pipe."""


def _scribbled(error: Exception) -> ChildTrouble:
    return ChildTrouble(Trouble("HarnessFault", f"its process says what is no message of ours: {error}", usage=False))


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"kills its process with {signal.Signals(-code).name}"
    return f"ends its process with exit status {code}"


def read_journal(path: Path) -> tuple[Surface, History] | None:
    """The last history that a child was about to run."""
    try:
        first, second = path.read_bytes().split(b"\n")[:2]
        kind = kind_of(named(first.decode()))
        return kind.surface, kind.read(second)
    except (ValueError, OSError):
        return None


def read_so_far(path: Path) -> bytes:
    """What a child knew when it began its last history, or nothing."""
    try:
        return path.read_bytes().split(b"\n")[2]
    except (IndexError, OSError):
        return b""
