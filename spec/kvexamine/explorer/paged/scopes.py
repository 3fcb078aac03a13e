"""The worlds that are explored, each chosen by the faults that it kills and named after what it is about."""

from __future__ import annotations

from collections.abc import Iterable

from kvexamine.explorer.naming import look_up
from kvexamine.explorer.paged.scope import Scope
from kvspec.vocabulary import NO_PARTS, Capabilities, KeyParts, Request, RequestId, TokenId, World


def _request(name: str, prompt: str, new: int = 1, salt: str | None = None) -> Request:
    parts = NO_PARTS if salt is None else KeyParts(salt=salt)
    return Request(RequestId(name), tuple(TokenId(int(token)) for token in prompt), new, 0, parts)


def _requests(*prompts: str, new: int = 1) -> tuple[Request, ...]:
    return tuple(_request(name, prompt, new) for name, prompt in zip("ABCD", prompts, strict=False))


def _can(*profiles: str, publishes: str = "scheduled", **others: object) -> Capabilities:
    return Capabilities(profiles=frozenset(profiles), publishes=publishes, **others)  # type: ignore[arg-type]


def _kinds(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALL = (
    Scope(
        "prefix",
        "three requests that share prefixes, preempted at any time; eviction in order of release",
        World(5, 2, 3),
        may=_kinds("preempt"),
        requests=_requests("001", "000", "01", new=2),
    ),
    Scope(
        "exact-hit",
        "a prompt that the cache holds whole, one token more, and a pool that is just large enough",
        World(4, 2, 2),
        may=_kinds("preempt abort"),
        requests=_requests("01", "01", "010", new=1),
        capabilities=_can("lru", publishes="computed"),
    ),
    Scope(
        "any-block",
        "an engine that may take any block of the pool, held ones included, and hit any length",
        World(3, 1, 2),
        may=_kinds("preempt abort short-hits"),
        requests=_requests("01", "00", new=2),
        capabilities=_can(publishes="computed"),
        takes="any",
    ),
    Scope(
        "chains",
        "blocks of one token in long chains; the tail of a chain is evicted first",
        World(4, 1, 3),
        may=_kinds("preempt"),
        requests=_requests("010", "110"),
        capabilities=_can("lru", "tail-first"),
    ),
    Scope(
        "fork",
        "a request is continued twice, shares its blocks and copies before it writes",
        World(4, 3, 3),
        may=_kinds("fork copy preempt abort"),
        requests=_requests("01", new=3),
        child=_request("F", "01", 3),
    ),
    Scope(
        "reset",
        "the cache forgets everything while requests run and wait",
        World(4, 2, 2),
        may=_kinds("reset preempt"),
        requests=_requests("011", "010", new=1),
        capabilities=_can("lru", publishes="computed"),
    ),
    Scope(
        "refusal",
        "what does not fit is refused, what can never fit is rejected",
        World(3, 1, 2),
        may=_kinds("refuse reject preempt finish"),
        requests=_requests("01", "001", "0101", new=1),
    ),
    Scope(
        "tenants",
        "equal prompts under different salts",
        World(4, 1, 2),
        may=_kinds("preempt short-hits"),
        requests=(_request("A", "01", 2, "x"), _request("B", "01", 1, "y"), _request("C", "01", 1, "x")),
    ),
    Scope(
        "in-flight",
        "two steps on the device while the next is planned; exits at any time",
        World(4, 1, 2),
        may=_kinds("dispatch abort defer preempt"),
        requests=_requests("01", "00"),
        capabilities=_can(publishes="computed"),
        takes="idle",
        in_flight=2,
    ),
    Scope(
        "failure",
        "steps fail on the device, and what they wrote is garbage",
        World(3, 1, 2),
        may=_kinds("fail dispatch preempt short-hits"),
        requests=_requests("01", "01"),
        capabilities=_can(publishes="computed"),
        takes="idle",
    ),
    Scope(
        "swap",
        "victims are copied to the host and brought back",
        World(3, 1, 2),
        may=_kinds("swap"),
        requests=_requests("01", "00"),
        capabilities=_can(publishes="computed", preemptions=("swap",)),
        takes="idle",
    ),
    Scope(
        "fcfs",
        "first come, first served, the youngest is the victim: everything finishes",
        World(3, 2, 3),
        may=_kinds("preempt"),
        requests=_requests("001", "000", "01", new=2),
        capabilities=_can("lru", "fcfs", "decode-first"),
        fcfs=True,
    ),
    Scope(
        "fcfs-four",
        "the same with four requests, one of which leaves when it likes and one of which never fits",
        World(4, 2, 3),
        may=_kinds("preempt abort reject"),
        requests=_requests("001", "000", "010010010", "01", new=2),
        capabilities=_can("lru", "fcfs", "decode-first"),
        fcfs=True,
    ),
    Scope(
        "prefix-large",
        "one more block and one more token each",
        World(6, 2, 3),
        may=_kinds("preempt"),
        requests=_requests("001", "000", "01", new=3),
        large=True,
    ),
    Scope(
        "four-large",
        "four requests that share prefixes",
        World(6, 2, 3),
        may=_kinds("preempt abort"),
        requests=_requests("001", "000", "01", "00"),
        large=True,
    ),
    Scope(
        "fork-large",
        "a request and its fork beside another that shares its prefix",
        World(5, 3, 3),
        may=_kinds("fork copy preempt abort"),
        requests=_requests("01", "011", new=3),
        child=_request("F", "01", 3),
        large=True,
    ),
    Scope(
        "tenants-large",
        "longer outputs under different salts, hits of any length",
        World(5, 2, 3),
        may=_kinds("preempt short-hits"),
        requests=(_request("A", "01", 3, "x"), _request("B", "01", 2, "y"), _request("C", "010", 2, "x")),
        large=True,
    ),
    Scope(
        "in-flight-large",
        "a step on the device while three requests are planned",
        World(3, 2, 2),
        may=_kinds("dispatch preempt"),
        requests=_requests("01", "00", "01"),
        capabilities=_can(publishes="computed"),
        takes="idle",
        large=True,
    ),
)

SCOPES: dict[str, Scope] = {scope.name: scope for scope in _ALL}


def find(name: str) -> Scope:
    """The scope of this name. Raises `KeyError` with the names that there are."""
    return look_up(name, SCOPES)


def everyday() -> Iterable[Scope]:
    """The scopes that run without being asked for by name."""
    return (scope for scope in SCOPES.values() if not scope.large)
