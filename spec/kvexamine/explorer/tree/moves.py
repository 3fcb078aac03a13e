"""What may happen to a radix tree: lookups, insertions, locks and evictions, the lawful ones and many that are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from kvexamine.explorer.tree.shown import lies
from kvexamine.explorer.tree.world import Prefix, TreeWorld, cached, pages_of, places, remainders
from kvspec.mirror import Content
from kvspec.tree import events as ev
from kvspec.tree.state import HandleId, TreeState
from kvspec.tree.vocabulary import Slots


def proposals(small: TreeWorld, state: TreeState) -> Iterator[ev.Event]:
    """Every event worth putting to the transition."""
    subsets = list(remainders(state))
    for prefix in small.prefixes:
        yield from _lookups(small, state, prefix)
        yield from _insertions(small, state, prefix, subsets)
    yield from (ev.Lock(handle) for handle in state.found)
    yield from (ev.Unlock(handle) for handle in state.locked)
    for left in subsets:
        gone = (len(state.pages) - len(left)) * state.size
        yield from (ev.Evict(asked, gone, left) for asked in (gone, gone + 1))
        yield from (ev.Evict(gone, told, left) for told in (gone - state.size, gone + state.size))
    if small.resets:
        yield ev.Reset()
    yield from lies(state)


def handles(small: TreeWorld, state: TreeState) -> Iterable[HandleId]:
    """Names for what a lookup finds: a new one while there is room, or that of a lookup of which nothing became."""
    used = {*state.found, *state.locked}
    new = next(HandleId(number) for number in range(len(used) + 1) if number not in used)
    return (*state.found, *((new,) if len(used) < small.handles else ()))


def _lookups(small: TreeWorld, state: TreeState, prefix: Prefix) -> Iterator[ev.Event]:
    """Hits of every length, with the places of the right pages and others."""
    tokens, parts = prefix
    for handle in handles(small, state):
        for hit in range(len(tokens) + state.size + 1):
            for slots in _told(small, state, prefix, hit):
                yield ev.Match(handle, tokens, parts, hit, slots)


def _told(small: TreeWorld, state: TreeState, prefix: Prefix, hit: int) -> Iterator[Slots | None]:
    """The places of what is found, where they are known, others, too few, and any for pages that have told none."""
    yield None
    own = places(state, pages_of((prefix[0][:hit], prefix[1]), state.size)) if small.places else None
    if own:
        yield own
        yield (*own[1:], own[0])
        yield own[:-1]
    elif own is not None:
        yield from _stored(small, state, hit // state.size)


def _insertions(
    small: TreeWorld, state: TreeState, prefix: Prefix, subsets: Sequence[frozenset[Content]]
) -> Iterator[ev.Event]:
    """Any number of tokens said to be known; where there is no room, anything left of the tree, or a refusal."""
    tokens, parts = prefix
    chain, known = pages_of(prefix, state.size), cached(state, prefix)
    free = (state.world.num_blocks - len(state.pages)) * state.size
    need = len(chain) - known
    rooms: list[frozenset[Content] | None] = [None]
    if need * state.size > free:
        rooms += [left | set(chain) for left in subsets]
    for said in range(len(tokens) + state.size + 1):
        if said == known * state.size:
            for left in rooms:
                for slots in _stored(small, state, need):
                    yield ev.Insert(tokens, parts, said, slots, left)
        else:
            yield ev.Insert(tokens, parts, said)
    for left in (None, *(subsets if need * state.size > free else ())):
        yield ev.Refuse(tokens, parts, free, left)


def _stored(small: TreeWorld, state: TreeState, need: int) -> Iterator[Slots | None]:
    """Places for new pages: any of the pool, the same one twice among them, up to the names of idle ones."""
    yield None
    if not small.places:
        return
    count = need * state.size
    taken = [slot for page in state.pages.values() for slot in page.slots or ()]
    idle = [slot for slot in range(state.world.num_blocks * state.size) if slot not in taken]
    yield tuple(idle[:count])
    if count:
        yield tuple(idle[: count - 1])
        yield tuple(idle[:1] * count)
        yield from permutations((*idle[: count - 1], *taken[:1]), count)
