"""What is mutated, and who must notice."""

from __future__ import annotations

from types import MappingProxyType

_SPEC = tuple(f"tests.spec.test_{name}" for name in ("transition", "guards", "blame", "self_descriptions"))
_REFERENCE = ("tests.reference.test_pool", "tests.reference.test_mutants")
_TRANSITION = ("admission", "blocks", "computing", "contents", "exits", "guards", "steps", "transfers")

SCOPE = MappingProxyType(
    {
        **{f"kvreference.{name}": _REFERENCE for name in ("pool", "prefix_cache", "blocks", "scheduler")},
        "kvspec.transition": _SPEC,
        **{f"kvspec.transition.{name}": _SPEC for name in _TRANSITION},
        **{f"kvspec.{name}": _SPEC for name in ("hits", "claims", "invariants")},
    }
)
"""Each mutated module with the files of tests that are its first killers."""


def chosen(words: list[str]) -> list[str]:
    """The modules whose name ends with one of the words; all of them where there is no word."""
    names = [name for name in SCOPE if not words or any(name.endswith(word) for word in words)]
    if not names:
        raise SystemExit(f"no module ends with {' or '.join(words)}; there are {', '.join(SCOPE)}")
    return names
