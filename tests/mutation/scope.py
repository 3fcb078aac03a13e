"""What is mutated, and who must notice."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

PAGED, GROUPS, TREE = ("pool", "stepper"), ("groups",), ("tree",)


@dataclass(frozen=True)
class Killers:
    """Who must notice that a module is a mutant: files of tests, and the engines and imposters of some surfaces."""

    tests: tuple[str, ...]
    surfaces: tuple[str, ...] = PAGED


def _spec(*names: str, surfaces: tuple[str, ...] = PAGED) -> Killers:
    return Killers(tuple(f"tests.spec.test_{name}" for name in names), surfaces)


_REFERENCE = Killers(("tests.reference.test_pool", "tests.reference.test_mutants"))
_GROUPED = ("groups", "groups_guards", "groups_blame", "groups_machine")
_SPEC = _spec(
    "transition", "guards", "blame", "self_descriptions", "claims_gaps", *_GROUPED, surfaces=(*PAGED, *GROUPS)
)
_GROUPS = _spec(*_GROUPED, surfaces=GROUPS)
_TREE = _spec("tree", "tree_guards", surfaces=TREE)
_MIRROR = _spec("mirror", "mirror_guards", surfaces=(*PAGED, *TREE))
_TRANSITION = ("admission", "blocks", "computing", "contents", "exits", "guards", "steps", "transfers")

SCOPE = MappingProxyType(
    {
        **{f"kvreference.{name}": _REFERENCE for name in ("pool", "prefix_cache", "blocks", "scheduler")},
        "kvspec.transition": _SPEC,
        **{f"kvspec.transition.{name}": _SPEC for name in _TRANSITION},
        **{f"kvspec.{name}": _SPEC for name in ("state", "hits", "claims", "spoken", "invariants")},
        **{f"kvspec.{name}": _GROUPS for name in ("layout", "needs")},
        **{f"kvspec.blame.{name}": _SPEC for name in ("past", "exercised", "keys", "hits", "reads", "claims")},
        **{f"kvspec.tree.{name}": _TREE for name in ("vocabulary", "events", "state", "transition", "places", "shown")},
        **{f"kvspec.{name}": _MIRROR for name in ("published", "mirror")},
    }
)
"""Each mutated module with its killers."""


def chosen(words: list[str]) -> list[str]:
    """The modules whose name ends with one of the words; all of them where there is no word."""
    names = [name for name in SCOPE if not words or any(name.endswith(word) for word in words)]
    if not names:
        raise SystemExit(f"no module ends with {' or '.join(words)}; there are {', '.join(SCOPE)}")
    return names
