"""The scopes in which engines are tried: those of the explorer, and some for what its transition does not explore."""

from __future__ import annotations

from collections.abc import Iterator

from kvexamine.explorer import ALL as EXPLORED
from kvexamine.explorer import SCOPES, Scope
from kvexamine.explorer.naming import look_up
from kvspec.vocabulary import NO_PARTS, KeyParts, Media, Request, RequestId, TokenId, World


def _request(prompt: str, new: int = 1, parts: KeyParts = NO_PARTS, priority: int = 0) -> Request:
    """A request; `w` stands for the token 256, which is 0 to a key that keeps eight bits."""
    tokens = tuple(TokenId(256 if letter == "w" else int(letter)) for letter in prompt)
    return Request(RequestId(prompt), tokens, new, priority, parts)


def _image(digest: str, position: int, length: int = 1) -> KeyParts:
    return KeyParts(media=(Media(digest, position, length),))


def _kinds(text: str) -> frozenset[str]:
    return frozenset(text.split())


OWN: tuple[Scope, ...] = (
    Scope(
        "adapters",
        "one prompt under adapters, their versions and other weights",
        World(6, 1, 3),
        tuple(
            _request("00", 1, parts)
            for parts in (
                NO_PARTS,
                KeyParts(adapter="x"),
                KeyParts(adapter="y"),
                KeyParts(None, "x", 1),
                KeyParts(weights=1),
            )
        ),
    ),
    Scope(
        "names",
        "salts and adapters whose names could be taken for each other",
        World(6, 1, 3),
        tuple(
            _request("00", 1, parts)
            for parts in (KeyParts("x"), KeyParts(None, "x"), KeyParts("xy"), KeyParts("x", "y"))
        ),
    ),
    Scope(
        "media",
        "images that differ in their bytes, their place or their extent behind the same tokens",
        World(6, 2, 2),
        tuple(
            _request("0000", 1, parts)
            for parts in (
                _image("beef01", 0),
                _image("beef02", 0),
                _image("cafe01", 0),
                _image("beef01", 1, 2),
                _image("beef01", 2, 2),
            )
        ),
    ),
    Scope(
        "tokens",
        "blocks that differ only in the order of their tokens or in the upper bits of one",
        World(6, 2, 4),
        tuple(_request(prompt) for prompt in ("001", "011", "101", "ww1", "111")),
    ),
    Scope(
        "lookups",
        "prefixes are asked for and not used, in a pool with little room",
        World(3, 1, 4),
        (_request("00"), _request("00", 1, KeyParts("x")), _request("01")),
        may=_kinds("lookup"),
    ),
    Scope(
        "alone",
        "one request at a time, however many fit",
        World(4, 2, 3, max_running=1),
        (_request("01"), _request("00"), _request("001", 2)),
    ),
    Scope(
        "uncached",
        "no prefix cache, new prompts first, and hardly room for two",
        World(4, 3, 8, policy="prefill-first", caching=False),
        tuple(_request(prompt, new) for prompt, new in (("1000", 2), ("0000000", 1), ("00", 3))),
    ),
    Scope(
        "priority",
        "requests that may wait lose their blocks to those that may not",
        World(7, 3, 8, policy="priority"),
        (_request("11111", 6, priority=1), _request("00", 3), _request("0001001", 1)),
        may=_kinds("abort"),
    ),
    Scope(
        "resume",
        "two requests of one prefix grow by a token a step, one is continued, and somebody must make room",
        World(3, 2, 1, max_running=2),
        (_request("00", 2), _request("0000", 2)),
        may=_kinds("fork"),
    ),
    Scope(
        "forks",
        "a request is continued twice, in the middle of a block and of its prompt",
        World(3, 4, 1),
        (_request("00"),),
        may=_kinds("fork fork-again"),
    ),
    Scope(
        "fork-full",
        "equal requests are continued in a pool that is full",
        World(3, 1, 2),
        (_request("00"), _request("00")),
        may=_kinds("fork"),
    ),
    Scope(
        "full",
        "a long prompt finds its beginning cached, held or idle, and no room for its rest",
        World(6, 1, 8),
        (_request("01", 2), _request("01001"), _request("000")),
    ),
    Scope(
        "batch-fails",
        "a step with two requests fails",
        World(6, 2, 4),
        (_request("01"), _request("01"), _request("00")),
        may=_kinds("fail abort"),
    ),
    Scope(
        "swap-out",
        "prompts that arrive push others out to the host",
        World(6, 1, 10, policy="prefill-first"),
        (_request("0", 2), _request("0100", 2), _request("01", 2)),
        may=_kinds("swap abort"),
    ),
    Scope(
        "swap-in",
        "requests grow until one must leave for the host, and comes back",
        World(6, 1, 6),
        (_request("0001", 2), _request("0001", 2), _request("01", 2)),
        may=_kinds("swap abort dispatch"),
    ),
    Scope(
        "swap-priority",
        "a long prompt that may not wait pushes one out to the host that may",
        World(5, 4, 7, policy="priority"),
        (_request("1111", 6, priority=2), _request("0000000000", 4)),
        may=_kinds("swap abort fork"),
    ),
    Scope(
        "swap-pair",
        "two requests of one prompt grow until one must leave for the host",
        World(9, 1, 6, max_running=2),
        (_request("0001", 3), _request("0001", 2)),
        may=_kinds("swap"),
    ),
    Scope(
        "swap-batch",
        "two long requests leave for the host and come back at once",
        World(6, 4, 10),
        (_request("0", 5), _request("00010", 9), _request("00010", 9)),
        may=_kinds("swap"),
    ),
)
"""Policies, key parts, look-ups, pressure on a scheduler that swaps: what the explorer leaves out or does not force."""

ALL: dict[str, Scope] = {**SCOPES, **{scope.name: scope for scope in OWN}}


def everyday() -> Iterator[Scope]:
    """The scopes that are tried without being asked for by name."""
    return (scope for scope in ALL.values() if not scope.large)


def find(name: str) -> Scope:
    """The scope of this name. Raises `KeyError` with a near name and those that there are."""
    if name in EXPLORED and name not in ALL:
        raise KeyError(f"{name!r} is explored only (kvspec explore --scope {name}): no engine is tried in it")
    return look_up(name, ALL)
