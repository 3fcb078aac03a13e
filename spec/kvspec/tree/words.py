"""What a finding about a radix tree is called, and its sentences: what was seen, and what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from kvspec import rules as r
from kvspec.mirror import Content
from kvspec.rules import Rule
from kvspec.tree import events as ev
from kvspec.tree.state import TreeState
from kvspec.tree.transition import advance, twins
from kvspec.violation import Broken, Tally, Violation


def judge(state: TreeState, event: ev.Event, tally: Tally) -> None:
    """Apply `event` in place. Raises `Violation`, by the rule that explains it, where it is not allowed."""
    tally.blame = partial(finding, state)
    try:
        advance(state, event, tally)
    finally:
        tally.blame = None


def finding(state: TreeState, broken: Broken) -> Violation:
    """What a guard says, under the rule that explains it."""
    locks = broken.facts.get("locks")
    facts = broken.facts | {"so_many": "1 lock" if locks == 1 else f"{locks} locks"}
    seen, expected = (text.format(**facts) for text in WORDS[broken.rule, broken.how])
    rule = _looks_like(state, broken.facts["content"]) if broken.how == "found" else broken.rule  # type: ignore[arg-type]
    return Violation(rule, seen, expected, **broken.facts)


def _looks_like(state: TreeState, content: Content) -> Rule:
    """Which rule a hit on a page that is not cached breaks, from what is cached and looks like it."""
    others = twins(state, content)
    if any(other.computes == content.computes for other in others):
        return r.ISOLATION
    own, depth = content.elements[-state.size :], len(content.elements)
    alike = any(other.elements[-state.size :] == own and len(other.elements) == depth for other in state.pages)
    return r.COMPLETE_KEY if others or (alike and content not in state.seen) else r.CONTENT_MATCHES_KEY


WORDS: Mapping[tuple[Rule, str], tuple[str, str]] = MappingProxyType(
    {
        (r.CONTIGUOUS_CHAIN, "pages"): ("a lookup of {tokens} tokens finds {hit}", "whole pages of {size}"),
        (r.CONTENT_MATCHES_KEY, "found"): ("a lookup finds {content}, which is not cached", "a hit on cached pages"),
        (r.CONSERVATION, "known"): (
            "{known} tokens of {content} are said to be known",
            "{right} are cached, and the caller gives its own copy of them back",
        ),
        (r.CONSERVATION, "room"): ("{cached} pages are cached and {new} more", "room for {most}"),
        (r.FIT_AGREES_WITH_ALLOCATE, "refused"): (
            "{need} new pages are refused while {free} tokens are free",
            "what fits is given",
        ),
        (r.CONSERVATION, "evicted"): ("{told} tokens are said to be evicted", "{tokens} have left the tree"),
        (r.FIT_AGREES_WITH_ALLOCATE, "evicted"): (
            "{tokens} tokens are evicted of {asked} asked for",
            "{can}: so many are not locked",
        ),
        (r.SYMMETRIC_LOCKS, "evicted"): (
            "{content} is evicted with {so_many} on it",
            "a locked page stays until it is unlocked",
        ),
        (r.CONTIGUOUS_CHAIN, "orphan"): ("{content} stays while a page before it is evicted", "leaves go first"),
        (r.CONSERVATION, "places"): ("{places} places for {tokens} tokens", "one for each token"),
        (r.CONTENT_MATCHES_KEY, "elsewhere"): (
            "a lookup of {content} gives the places {places}",
            "its own places {own}",
        ),
        (r.CONSERVATION, "twice"): ("{content} is stored at {places}, one of them twice", "a place for each token"),
        (r.CONSERVATION, "held"): ("{content} is stored at {places}, which {owner} holds", "places that nobody holds"),
        (r.CONSERVATION, "two nodes"): ("{content} stands in two nodes", "once"),
        (r.SYMMETRIC_LOCKS, "lost"): (
            "{content} is no longer in the tree",
            "it was not evicted, and {so_many} lie on it",
        ),
        (r.CONSERVATION, "lost"): ("{content} is no longer in the tree", "it was not evicted"),
        (r.CONSERVATION, "strange"): ("{content} is in the tree", "only what was inserted and not evicted"),
        (r.SYMMETRIC_LOCKS, "counted"): (
            "the node that ends in {content} counts {counted} locks",
            "{locks}: as many handles through it are locked and not yet unlocked",
        ),
        (r.CONSERVATION, "sizes"): (
            "{evictable} tokens are said to be evictable and {protected} protected",
            "{right}",
        ),
        (r.CONSERVATION, "available"): ("{free} free and {cached} cached tokens", "{total} together"),
    }
)
"""By rule and guard."""
