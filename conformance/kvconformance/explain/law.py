"""The specification as a text: the paragraphs of `spec/cache.md`, by the names that they define.

A paragraph that begins with an anchor, `<a id="S4"></a>`, defines that name: a rule id, an invariant, a property of
liveness, or a freedom.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

PAGE = "cache.md"
_DEFINITION = re.compile(r'^<a id="([^"]+)"></a>(.+?)(?=\n\n|\Z)', re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


def shipped(package: str, name: str) -> Path:
    """A file that an installed wheel has inside a package, and the repository beside it."""
    folder = Path(str(resources.files(package)))
    inside = folder / name
    return inside if inside.exists() else folder.parent / name


def page() -> str:
    """The whole text, as Markdown."""
    return shipped("kvspec", PAGE).read_text("utf-8")


def definitions(text: str | None = None) -> dict[str, str]:
    """Each defined name with its paragraph on one line, links reduced to their words.

    Raises `ValueError` for a name that is defined twice.
    """
    found: dict[str, str] = {}
    for name, paragraph in _DEFINITION.findall(page() if text is None else text):
        if name in found:
            raise ValueError(f"{PAGE} defines {name} twice")
        found[name] = _LINK.sub(r"\1", " ".join(paragraph.split()))
    return found
