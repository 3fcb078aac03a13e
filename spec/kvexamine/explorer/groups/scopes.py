"""The small worlds of caches with several groups that are explored, each chosen by the faults that it kills."""

from __future__ import annotations

from kvexamine.explorer.groups.world import GroupsWorld
from kvexamine.explorer.scope import WorldScope
from kvspec.vocabulary import BlockId, GroupsCapabilities, Request, RequestId, TokenId


def _requests(text: str) -> tuple[Request, ...]:
    """Requests called A, B, C, written `prompt+new`."""
    told = (word.split("+") for word in text.split())
    return tuple(
        Request(RequestId(name), _tokens(prompt), int(new)) for name, (prompt, new) in zip("ABC", told, strict=False)
    )


def _tokens(text: str) -> tuple[TokenId, ...]:
    return tuple(TokenId(int(token)) for token in text)


_ALL = (
    WorldScope(
        "groups-any",
        "any block in any entry, held ones, wrong ones and none at all; a window that sees nothing of the past",
        GroupsWorld("full:1 window:1:1", 2, _requests("01+1 01+1"), pool="own", takes="any"),
    ),
    WorldScope(
        "groups-any-one",
        "one group alone, with any block in any entry: what a hit finds there is all that is wrong with it",
        GroupsWorld("full:1", 2, _requests("01+1 01+1"), takes="any"),
    ),
    WorldScope(
        "groups-window",
        "a window beside full attention in one pool: what one group gives back the other takes",
        GroupsWorld("full:2 window:2:2", 5, _requests("010+2 010+2")),
    ),
    WorldScope(
        "groups-rounding",
        "a window that begins inside a block, and hits that end where the blocks of both groups do",
        GroupsWorld("window:2:3 window:1:2", 6, _requests("0100+1 010+1"), takes="first"),
    ),
    WorldScope(
        "groups-in-flight",
        "two steps of a request on the device; a reserved block; hits on what is finished only",
        GroupsWorld(
            "full:1 window:1:2",
            6,
            _requests("010+1 01+1"),
            capabilities=GroupsCapabilities(max_in_flight=2, reserved_blocks=frozenset({BlockId(0)})),
        ),
    ),
    WorldScope(
        "groups-longest",
        "an engine that declares that its hit is the longest from which all groups can go on",
        GroupsWorld(
            "full:1 window:1:2",
            6,
            _requests("0101+1 010+1"),
            takes="first",
            capabilities=GroupsCapabilities(profiles=frozenset({"longest-hit"})),
        ),
    ),
    WorldScope(
        "groups-scheduled",
        "hits on blocks that a step on the device still computes, in pools of their own",
        GroupsWorld(
            "full:1 window:1:2",
            3,
            _requests("010+1 011+1"),
            pool="own",
            capabilities=GroupsCapabilities(publishes="scheduled"),
        ),
    ),
    WorldScope(
        "groups-state",
        "recurrent states, written to every entry that a step reaches",
        GroupsWorld("full:1 state:2", 6, _requests("010+2 0101+1"), takes="first"),
    ),
    WorldScope(
        "groups-last-state",
        "recurrent states of which a step writes the last only, and a window, without full attention",
        GroupsWorld("window:1:2 state:1", 5, _requests("010+1 010+1"), capabilities=GroupsCapabilities(states="last")),
    ),
    WorldScope(
        "groups-draft",
        "a drafter that is one token behind, and prompts that part there",
        GroupsWorld("full:1 draft:1:1", 5, _requests("010+1 000+1")),
    ),
    WorldScope(
        "groups-drafts-ahead",
        "a drafter that runs ahead on the token that is sampled, whatever that is",
        GroupsWorld(
            "full:1 draft:1:1",
            6,
            _requests("01+2 010+1"),
            takes="first",
            samples=_tokens("01"),
            capabilities=GroupsCapabilities(drafts_ahead=True),
        ),
    ),
    WorldScope(
        "groups-any-draft",
        "the same drafter, with any block in any entry",
        GroupsWorld(
            "full:1 draft:1:1",
            2,
            _requests("01+1 01+1"),
            pool="own",
            takes="any",
            samples=_tokens("01"),
            capabilities=GroupsCapabilities(drafts_ahead=True),
        ),
    ),
    WorldScope(
        "groups-preempt",
        "a request gives way at any time, its step on the device or not, and comes back on what others left it",
        GroupsWorld("full:1 window:1:2", 5, _requests("010+2 01+1"), takes="first", may=frozenset({"preempt"})),
    ),
    WorldScope(
        "groups-swap",
        "blocks of a window and of recurrent states go to the host and come back as far as they are read",
        GroupsWorld(
            "window:1:2 state:2",
            3,
            _requests("01+2"),
            takes="first",
            may=frozenset({"swap"}),
            capabilities=GroupsCapabilities(preemptions=("swap",)),
        ),
    ),
    WorldScope(
        "groups-window-large",
        "three requests in one pool",
        GroupsWorld("full:1 window:1:2", 5, _requests("000+1 00+1 00+1")),
        large=True,
    ),
    WorldScope(
        "groups-three-large",
        "full attention, a window and a recurrent state",
        GroupsWorld("full:1 window:1:2 state:1", 8, _requests("010+1 010+1")),
        large=True,
    ),
    WorldScope(
        "groups-any-large",
        "any block in any entry of a window and of recurrent states",
        GroupsWorld(
            "window:1:1 state:1",
            2,
            _requests("01+1 01+1"),
            pool="own",
            takes="any",
            capabilities=GroupsCapabilities(states="last"),
        ),
        large=True,
    ),
    WorldScope(
        "groups-draft-large",
        "a drafter that is two tokens behind",
        GroupsWorld("full:1 draft:1:2", 6, _requests("010+2 0101+1"), samples=_tokens("01")),
        large=True,
    ),
    WorldScope(
        "groups-swap-large",
        "two requests that take turns on the device",
        GroupsWorld(
            "window:1:2 state:2",
            4,
            _requests("01+2 01+1"),
            takes="first",
            may=frozenset({"swap"}),
            capabilities=GroupsCapabilities(preemptions=("swap",)),
        ),
        large=True,
    ),
)

GROUPS: dict[str, WorldScope[GroupsWorld]] = {scope.name: scope for scope in _ALL}
