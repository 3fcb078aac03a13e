"""What is mutated, and who must notice: a file of tests says it of itself, with the marker `kills`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Room:
    """Modules that the same tests hold down, and the surfaces whose engines and imposters go through them."""

    modules: tuple[str, ...]
    surfaces: tuple[str, ...]


def _of(package: str, names: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in names.split())


ROOMS = MappingProxyType(
    {
        "reference": Room(_of("kvreference", "pool prefix_cache blocks scheduler"), ("pool", "stepper")),
        "law": Room(
            _of("kvspec", "transition state hits claims spoken invariants")
            + _of("kvspec.transition", "admission blocks computing contents exits guards steps transfers")
            + _of("kvspec.blame", "past exercised keys hits reads claims"),
            ("pool", "stepper", "groups"),
        ),
        "layout": Room(_of("kvspec", "layout needs"), ("groups",)),
        "tree": Room(_of("kvspec.tree", "vocabulary events state transition places shown"), ("tree",)),
        "mirror": Room(_of("kvspec", "published mirror"), ("pool", "stepper", "tree")),
    }
)
SCOPE = MappingProxyType({module: name for name, room in ROOMS.items() for module in room.modules})
"""Each mutated module with the name of its room."""

_MARK = re.compile(r"^pytestmark = pytest\.mark\.kills\((.*)\)$", re.M)


@cache
def killers_of(room: str) -> tuple[str, ...]:
    """The files of tests that are marked to kill the mutants of a room, as modules."""
    files = [path for path in sorted(TESTS.glob("*/test_*.py")) if room in marks(path)]
    return tuple(".".join(("tests", path.parent.name, path.stem)) for path in files)


def marks(path: Path) -> list[str]:
    """The rooms of which a file of tests says that it kills their mutants."""
    found = _MARK.search(path.read_text("utf-8"))
    return re.findall(r'"(.*?)"', found[1]) if found else []


def chosen(words: list[str]) -> list[str]:
    """The modules whose name ends with one of the words; all of them where there is no word."""
    names = [name for name in SCOPE if not words or any(name.endswith(word) for word in words)]
    if not names:
        raise SystemExit(f"no module ends with {' or '.join(words)}; there are {', '.join(SCOPE)}")
    return names
