"""The fields of a state that are no part of a key, each with the reason why nothing is lost without it."""

from __future__ import annotations

from types import MappingProxyType

_CONSTANT = "the same in every state of a scope"
_RELATIVE = "only compared with other steps: kept as NOW, OLD, or the order of those in flight"
_NO_FAILURE = "of what a failed step wrote, and no scope has both failures and swaps"
_REPORT = "read only by observations and reports, which are not in the alphabet"

DROPPED = MappingProxyType(
    {
        "State": {
            "world": _CONSTANT,
            "capabilities": _CONSTANT,
            "layout": _CONSTANT,
            "starts": "read only where a layout trims what is not read any more, and a scope has one full group",
            "present": "the requests without those that are gone",
            "contexts": "only grows, and its ids keep their meaning: one trie serves all states of a search",
            "step": _RELATIVE,
            "epoch": "only compared with the epochs of blocks: kept as whether a block is stale",
            "releases": "the source of the numbers of releases, of which the order is kept",
            "counters": _REPORT,
            "hit_tokens": _REPORT,
            "mirror": "changed only by published events, which are not in the alphabet",
            "shown": _REPORT,
            "kept": _REPORT,
            "unseen": _REPORT,
        },
        "Live": {
            "request": _CONSTANT,
            "arrival": _CONSTANT,
            "tokens": "the last context tells them",
            "hit": "says by which way a request came to what it computes: read by blame and by the proofs",
            "resumed": "decides whether the tokens of a hit count among those of the counters",
            "left_in": _REPORT,
            "wasted": "changed only by wasted steps, which are not in the alphabet",
            "swapped_by": _NO_FAILURE,
            "garbage": _NO_FAILURE,
            "filled": "of a full group, as many slots as tokens are computed",
            "forked": "the fork of a scope is always the same request",
        },
        "Block": {
            "epoch": "kept as whether it is older than the state's",
            "owner": "the one group",
        },
    }
)
"""By record and field: why it is no part of a key."""
