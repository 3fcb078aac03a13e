"""Text is UTF-8 whatever the locale says: nobody reads or writes a file in the encoding of the machine."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("spec", "reference", "optimized", "conformance")
WITHOUT = {"read_text": 0, "write_text": 1}
"""Positional arguments of a call that leaves the encoding to the locale."""


def locale_calls(path: Path) -> list[str]:
    """Calls of `read_text` and `write_text` that name no encoding."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return [
        f"line {call.lineno}: {ast.unparse(call.func)}"
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and len(call.args) == WITHOUT.get(call.func.attr)
        and not any(keyword.arg == "encoding" for keyword in call.keywords)
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_no_text_depends_on_the_locale(room: str) -> None:
    found = {path: locale_calls(path) for path in (ROOT / room).rglob("*.py")}
    assert found
    assert {path.as_posix(): calls for path, calls in found.items() if calls} == {}
