"""What commands write: text that no terminal obeys, and files that are tried before the work, not after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import typer
from rich import markup
from rich.console import Console

USAGE = 2

errors = Console(stderr=True, highlight=False, soft_wrap=True)


def visible(text: str, keep: str = "") -> str:
    """The text with every character that is not seen, such as those that a terminal obeys, as JSON would escape it.

    Names come from strangers. `keep` are characters that stay.
    """
    return "".join(one if one.isprintable() or one in keep else _spelt(one) for one in text)


def _spelt(character: str) -> str:
    spelt = json.dumps(character)[1:-1]
    return f"\\u{ord(character):04x}" if spelt == character else spelt


def escape(text: str) -> str:
    """The text for a console: lines of it stay lines, and nothing in it is markup or obeyed."""
    return markup.escape(visible(text, "\n"))


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
