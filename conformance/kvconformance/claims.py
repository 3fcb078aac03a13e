"""Which rules bind an engine on a surface, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable

from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import kind_of
from kvspec import rules
from kvspec.rules import RULES, Rule
from kvspec.vocabulary import Capabilities, Surface


def _keeps(capabilities: Capabilities) -> bool:
    return any(getattr(capabilities, name, False) for name in ("blocks", "sequences", "caches"))


def _shows(capabilities: Capabilities) -> bool:
    return bool(getattr(capabilities, "caches", getattr(capabilities, "shows", True)))


def _encodes(capabilities: Capabilities) -> bool:
    return any(cache.writes for cache in getattr(capabilities, "caches", {}).values()) or hasattr(
        capabilities, "schemes"
    )


def _layouts(capabilities: Capabilities) -> tuple[str, ...]:
    """The groups of layers that an engine can be built with, where there can be several."""
    layouts: tuple[str, ...] = getattr(capabilities, "layouts", ())
    return layouts or tuple(map(str, capabilities.options.get("groups", ())))


def _overlaps(capabilities: Capabilities) -> bool:
    return capabilities.max_in_flight > 1 or "swap" in capabilities.preemptions


_NEEDS: dict[Rule, tuple[str, Callable[[Capabilities], bool]]] = {
    rules.ISOLATION: ("has no salts", lambda c: c.salts),
    rules.INVALIDATE: ("has no reset, failure or adapters", lambda c: c.resets or c.fails or c.adapters),
    rules.RESERVED_BLOCK: ("reserves no block", lambda c: bool(c.reserved_blocks)),
    rules.ADDRESS_RANGE: ("does not declare that it reads the cache in place", lambda c: getattr(c, "in_place", False)),
    rules.SCALE_TRAVELS: ("keeps nothing: no blocks, no sequences and no quantized caches", _keeps),
    rules.COMMUTES: ("keeps nothing: no blocks and no sequences", _keeps),
    rules.HALF_STEP: ("writes no quantized cache", _encodes),
    rules.ONE_SCALE: ("has neither codes nor scales to show", _shows),
    rules.EVERY_GROUP_HIT: ("has one group of layers", lambda c: bool(_layouts(c))),
    rules.DRAFT_GROUP_HIT: ("has no draft group", lambda c: any("draft" in text for text in _layouts(c))),
    rules.IN_FLIGHT_FENCE: ("has one step in flight and no transfers", _overlaps),
}
_NEEDS_CACHING = (
    rules.CONTENT_MATCHES_KEY,
    rules.PUBLISH_ONLY_COMPUTED,
    rules.COMPLETE_KEY,
    rules.KEY_DOMAINS,
    rules.FRESH_HIT,
    rules.CONTIGUOUS_CHAIN,
    rules.ONE_TOKEN_LEFT,
    rules.MIRROR_EQUALS_INDEX,
)


def unclaimed(engine: Engine, surface: Surface, rule: Rule, profiles: frozenset[str] = frozenset()) -> str | None:
    """Why `rule` does not bind the engine on this surface; None if it does."""
    kind = kind_of(surface)
    if not kind.binds(rule):
        return f"not a rule of a {surface.value}"
    capabilities = engine.capabilities(surface)
    if rule.id in capabilities.not_claimed:
        return capabilities.not_claimed[rule.id]
    if rule.profile is not None and rule.profile not in capabilities.profiles | profiles:
        return f"the profile {rule.profile} is not declared"
    if rule in _NEEDS and not _NEEDS[rule][1](capabilities):
        return _NEEDS[rule][0]
    if rule in _NEEDS_CACHING and True not in capabilities.caching:
        return "has no prefix cache"
    method = kind.needs.get(rule)
    if rule is rules.FAILURE_IS_ATOMIC and capabilities.resets:
        method = None  # a reset is refused by its answer, whatever else the engine has
    if method is not None and not hasattr(engine.factories[surface], method):
        return f"the adapter has no {method}()"
    return None


def claimed(engine: Engine, surface: Surface, profiles: frozenset[str] = frozenset()) -> list[Rule]:
    """The rules that bind the engine on this surface."""
    return [rule for rule in RULES.values() if unclaimed(engine, surface, rule, profiles) is None]
