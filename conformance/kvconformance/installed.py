"""Engines by name: the core's own, and those that installed distributions ship as entry points of `kvspec.engines`.

The object of an entry point is an `Engine`, an adapter class, or a function that builds an `Engine`. To list the names,
nothing of an engine is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

GROUP = "kvspec.engines"
CORE = (
    EntryPoint("reference", "kvconformance.engines.reference:engine", GROUP),
    EntryPoint("hybrid", "kvconformance.engines.reference:hybrid", GROUP),
    EntryPoint("contiguous", "kvconformance.engines.reference:contiguous", GROUP),
    EntryPoint("kvoptimized", "kvconformance.engines.kvoptimized:engine", GROUP),
)
"""They need no metadata: a checkout that is only on Python's path has them."""


def installed() -> Mapping[str, tuple[EntryPoint, ...]]:
    """The engines that can be named, the core's first; several entry points where distributions share a name."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in (*CORE, *sorted(entry_points(group=GROUP), key=lambda entry: entry.name)):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return found


def origin(entry: EntryPoint) -> str:
    """The distribution that ships the engine, with its version."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "kvspec"


def remedy(entry: EntryPoint) -> str:
    """What installs the packages that an engine needs, with a separator before it; nothing where we know of no way."""
    extras = entry.dist.metadata.get_all("Provides-Extra") or [] if entry.dist else [entry.name]
    package = entry.dist.name if entry.dist else "kvspec"
    ways = [f"`make check ENGINE={entry.name}` sets it up"] if package == "kvspec" else []
    ways += [f"pip install '{package}[{entry.name}]'"] if entry.name in extras else []
    return "; " + ", or: ".join(ways) if ways else ""


def findings(entry: EntryPoint) -> list[Path]:
    """The scripts that show what was found in the engine: the folder `findings` of the package with the adapter."""
    package = find_spec(entry.module)
    folders = package.submodule_search_locations if package else None
    return sorted(path for folder in folders or () for path in Path(folder, "findings").glob("*.py"))
