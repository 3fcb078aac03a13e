"""Which rules bind an engine on a surface, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping

from kvconformance.surfaces import Engine
from kvconformance.surfaces.base import Want
from kvconformance.surfaces.registry import kind_of
from kvspec import rules
from kvspec.rules import RULES, Rule
from kvspec.vocabulary import Surface

_WANTS: Mapping[Rule, Want] = {
    rules.ISOLATION: ("has no salts", lambda c: c.salts),
    rules.INVALIDATE: ("has no reset, failure or adapters", lambda c: c.resets or c.fails or c.adapters),
    rules.RESERVED_BLOCK: ("reserves no block", lambda c: c.reserved_blocks),
    rules.IN_FLIGHT_FENCE: (
        "has one step in flight and no transfers",
        lambda c: c.max_in_flight > 1 or "swap" in c.preemptions,
    ),
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
    want = kind.wants.get(rule) or _WANTS.get(rule)
    if want and not want[1](capabilities):
        return want[0]
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
