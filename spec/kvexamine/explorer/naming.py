"""Looking a scope up by its name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypeVar

Named = TypeVar("Named")


def look_up(name: str, scopes: Mapping[str, Named]) -> Named:
    """The scope of this name. Raises `KeyError` with a near name and those that there are."""
    if name in scopes:
        return scopes[name]
    near = difflib.get_close_matches(name, scopes, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    raise KeyError(f"no scope is called {name!r}{hint} There are: {', '.join(scopes)}")
