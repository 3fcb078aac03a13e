"""Files that commands write: what cannot be written is found before the work, and told in one clear line."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console
from rich.markup import escape

USAGE = 2

errors = Console(stderr=True, highlight=False, soft_wrap=True)


def usage(text: str) -> NoReturn:
    """One clear line, and exit status 2."""
    errors.print(f"[red]kvspec:[/] {escape(text)}")
    raise typer.Exit(USAGE)


def require_writable(path: Path | None, what: str = "--json") -> None:
    """Find out before the work, not after it, that a file cannot be written; `what` gives its name."""
    if path is None:
        return
    try:
        new = not path.exists()
        with path.open("ab"):
            pass
        if new:
            path.unlink()
    except OSError as error:
        usage(f"cannot write {path}: {error.strerror}; give {what} a file in a folder that exists and is writable")


def write(path: Path, data: bytes) -> None:
    """Write a file whole, or say in one line why that fails."""
    try:
        path.write_bytes(data)
    except OSError as error:
        usage(f"cannot write {path}: {error.strerror}")
