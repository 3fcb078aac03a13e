"""The mirror: the index that a subscriber builds from the published messages alone, and whether it is the real one.

`replay` is a pure function from messages to an index, in which every key names exact content: the tokens of its whole
chain and the parts that separate it from others. A message that no subscriber could follow breaks
`prefix/mirror-equals-index` where it stands; `compare` holds the rest against what the blocks really contain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from kvspec.contexts import Element
from kvspec.published import DEVICE, BlockRemoved, BlockStored, Published, PublishedKey
from kvspec.rules import MIRROR_EQUALS_INDEX
from kvspec.violation import Tally
from kvspec.vocabulary import KeyParts, TokenId

_RULE = MIRROR_EQUALS_INDEX


class Content(NamedTuple):
    """What one block stands for: every token up to its end with the media behind it, and the namespace."""

    salt: str | None
    computes: tuple[str | None, int, int]
    elements: tuple[Element, ...]

    @classmethod
    def root(cls, parts: KeyParts) -> Content:
        """The empty chain in the namespace of `parts`."""
        return cls(parts.salt, parts.computes, ())

    def extend(self, tokens: Iterable[TokenId], parts: KeyParts) -> Content:
        """The chain with the tokens of one more block."""
        start = len(self.elements)
        new = tuple((token, parts.media_at(start + offset)) for offset, token in enumerate(tokens))
        return Content(self.salt, self.computes, self.elements + new)

    def in_namespace(self, parts: KeyParts) -> bool:
        """Whether chains under `parts` can continue this one."""
        return (self.salt, self.computes) == (parts.salt, parts.computes)

    def __str__(self) -> str:
        spelt = " ".join(str(token) + (f"/{media}" if media else "") for token, media in self.elements)
        names = ("salt", "adapter", "adapter_version", "weights")
        said = [f"{name}={value}" for name, value in zip(names, (self.salt, *self.computes), strict=True) if value]
        return f"({spelt})" + (f" under {' '.join(said)}" if said else "")


class Entry(NamedTuple):
    """One key of the mirror: its content and, where the engine tells of each copy, how many there are."""

    content: Content
    copies: int = 1


Index = Mapping[tuple[str, PublishedKey], Entry]
"""Medium and key, to what is cached there."""

EMPTY: Final[Index] = MappingProxyType({})


def replay(
    messages: Iterable[Published], index: Index = EMPTY, *, counts_copies: bool = False, tally: Tally | None = None
) -> Index:
    """The index after these messages, from `index` on. Raises `Violation` at one that cannot be followed.

    With `counts_copies` a key is gone after as many removals as it was stored; without, a second store of the same
    content changes nothing and the first removal ends it. A tally that has waived the rule passes such messages over.
    """
    judge = tally or Tally()
    mirror = dict(index)
    for message in messages:
        if isinstance(message, BlockStored):
            _store(mirror, message, counts_copies, judge)
        elif isinstance(message, BlockRemoved):
            _remove(mirror, message, judge)
        else:
            judge.met(_RULE)
            mirror.clear()
    return MappingProxyType(mirror)


def _store(mirror: dict[tuple[str, PublishedKey], Entry], message: BlockStored, counts: bool, tally: Tally) -> None:
    size, parts, place = message.block_size, message.parts, message.medium
    known, tokens = len(message.keys), len(message.tokens)
    tally.require(
        tokens == known * size,
        _RULE,
        lambda: (f"{known} blocks of {size} are published with {tokens} tokens", f"{known * size} tokens"),
    )
    before = Content.root(parts)
    if message.parent is not None:
        parent = mirror.get((place, message.parent)) or _elsewhere(mirror, message.parent)
        tally.require(
            parent is not None,
            _RULE,
            lambda: (
                f"a block of {spell(message.tokens)} is published behind a parent that no message has told of",
                "parents first",
            ),
        )
        if parent is None:
            return
        before = parent.content
        tally.require(
            before.in_namespace(parts),
            _RULE,
            lambda: (
                f"a block of {Content.root(parts)} is published behind {before}",
                "one chain, one namespace",
            ),
        )
    for number, key in enumerate(message.keys):
        before = before.extend(message.tokens[number * size : (number + 1) * size], parts)
        _put(mirror, (place, key), before, counts, tally)


def _elsewhere(mirror: Mapping[tuple[str, PublishedKey], Entry], key: PublishedKey) -> Entry | None:
    """What a key names in any medium: a block that moves to the host may leave its parent on the device."""
    return next((entry for (_, other), entry in mirror.items() if other == key), None)


def _put(
    mirror: dict[tuple[str, PublishedKey], Entry],
    place: tuple[str, PublishedKey],
    content: Content,
    counts: bool,
    tally: Tally,
) -> None:
    old = mirror.get(place)
    tally.require(
        old is None or old.content == content,
        _RULE,
        lambda: (f"one key is published for {old.content if old else ''} and for {content}", "a key names one content"),
    )
    copies = old.copies + 1 if old is not None and counts else 1
    mirror[place] = Entry(content, copies)


def _remove(mirror: dict[tuple[str, PublishedKey], Entry], message: BlockRemoved, tally: Tally) -> None:
    for key in message.keys:
        place = (message.medium, key)
        old = mirror.pop(place, None)
        tally.require(
            old is not None,
            _RULE,
            lambda: ("a removal names a key that is not stored", "a removal of what was stored before, once"),
        )
        if old is not None and old.copies > 1:
            mirror[place] = Entry(old.content, old.copies - 1)


def compare(
    index: Index, blocks: Iterable[Content], tally: Tally, *, exact: bool, counts_copies: bool, medium: str = DEVICE
) -> None:
    """Require that the mirror of `medium` has the content of `blocks` and no other.

    `blocks` are those that the engine's own index names, one by one; where it does not show them (`exact=False`), all
    that hold full content, and the mirror may lack some.
    """
    real = Counter(iter(blocks))  # of a mapping it would take the values for counts
    mirrored: Counter[Content] = Counter()
    for (place, _), entry in index.items():
        if place == medium:
            mirrored[entry.content] += entry.copies
    stale = [content for content in mirrored if content not in real]
    tally.require(
        not stale,
        _RULE,
        lambda: (f"a subscriber still has {stale[0]}, which no block of the index holds", _blame(stale[0], real)),
    )
    missing = [content for content in real if content not in mirrored] if exact else []
    tally.require(
        not missing,
        _RULE,
        lambda: (
            f"a subscriber lacks {missing[0]}, which can be hit",
            "no removal before that of its last copy",
        ),
    )
    if counts_copies and exact:
        wrong = [content for content in real if mirrored[content] != real[content]]
        tally.require(
            not wrong,
            _RULE,
            lambda: (f"a subscriber counts {mirrored[wrong[0]]} copies of {wrong[0]}", f"{real[wrong[0]]}"),
        )


def _blame(stale: Content, real: Counter[Content]) -> str:
    """What was expected in place of stale content: its true namespace, or its removal."""
    twin = next((content for content in real if content.elements == stale.elements), None)
    return f"the namespace of the block: {twin}" if twin is not None else "a removal when the last copy is gone"


def spell(tokens: Iterable[int]) -> str:
    """Tokens between brackets."""
    return f"({' '.join(str(token) for token in tokens)})"
