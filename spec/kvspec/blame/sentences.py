"""Sentences that need more than the values that a guard saw: who holds a block, what a slot holds, who wrote it."""

from __future__ import annotations

from kvspec.blame.case import Case
from kvspec.blame.hits import changed_hands, held, hit_block, wanted, was_found_before
from kvspec.state import Block, State
from kvspec.vocabulary import BlockId

Words = tuple[str, str]
"""What was seen, and what was expected."""


def _owners(state: State, id: BlockId) -> str:
    """The requests whose tables name the block, and of several groups in which."""
    tables = [
        f"{live.request.id} (group {number})" if state.layout.several else live.request.id
        for live in state.requests.values()
        for number, table in enumerate(live.tables)
        if id in table
    ]
    return " and ".join(tables)


def taken(case: Case) -> Words:
    """A block is handed out that somebody holds."""
    who, id = case.facts["request"], case.facts["block"]
    return f"{who} receives {case.name(id)}, which {_owners(case.state, id)} still holds", "a block without an owner"


def touched(case: Case) -> Words:
    """A block is handed out that a transfer or a step may still touch."""
    who, id = case.facts["request"], case.facts["block"]
    pending = [f"transfer {transfer}" for transfer in case.state.blocks[id].fence]
    pending += [f"step {number}" for number, touched in case.state.in_flight.items() if id in touched]
    return f"{who} receives {case.name(id)}, which {pending[0]} may still touch", "it waits until that is done"


def written(case: Case) -> Words:
    """A position is written into a block that others hold too."""
    who, id, position = case.facts["request"], case.facts["block"], case.facts["position"]
    holders = _owners(case.state, id) or "nobody"
    return f"{who} writes position {position} into {case.name(id)}, held by {holders}", f"a block that only {who} holds"


def read(case: Case) -> Words:
    """A slot does not hold what the request wrote there."""
    facts, block = case.facts, case.state.blocks[case.facts["block"]]
    position, tokens = facts["position"], case.live.tokens
    own = f"token {tokens[position]}" if position < len(tokens) else "a token that is still to come"
    place = f"{case.name(facts['block'])} slot {facts['slot']}, which holds {_spell(case.state, block, facts['slot'])}"
    return f"{facts['request']} reads position {position} from {place}", f"its own position {position} ({own})"


def _spell(state: State, block: Block, offset: int) -> str:
    """What one slot holds."""
    context, writer = block.contexts[offset], block.writers[offset]
    if context is None:
        return "nothing that was computed"
    tokens = state.contexts.tokens(context)
    by = f"{writer[0]}'s " if writer else "nobody's "
    when = f", written in step {writer[1]}" if writer else ""
    return f"{by}position {len(tokens) - 1} (token {tokens[-1]}){when}"


def wrong_hit(case: Case) -> Words:
    """A block that is hit does not hold the request's own tokens."""
    return f"{case.facts['request']} {_told_hit(case)}", "the keys and values of its own tokens"


def _told_hit(case: Case) -> str:
    who, id, block = case.facts["request"], case.facts["block"], hit_block(case)
    written, size, block_name = held(block), len(wanted(case)), case.name(id)
    if block.failed:
        return f"hits {block_name}, whose step failed"
    if was_found_before(case):
        return f"is admitted on {block_name}, found before the block changed hands"
    if changed_hands(case):
        return f"is admitted on {block_name}, which changed hands while {who} waited"
    if not written:
        return f"hits {block_name}, in which nothing is computed"
    if len(written) < size:
        return f"hits {block_name}, of which only {len(written)} of {size} tokens are computed"
    writer = next((w for w in block.writers if w is not None), None)
    elements = case.state.contexts.elements(written[-1])
    spelt = " ".join(str(token) + (f"/{media}" if media else "") for token, media in elements)
    return f"hits {block_name}, which holds ({spelt}) of {writer[0] if writer else 'nobody'}"


def salted(case: Case) -> Words:
    """A hit on a block of another tenant."""
    who, writer, id = case.facts["request"], case.facts["writer"], case.facts["block"]
    ours, theirs = (case.state.requests[name].request.parts.salt for name in (who, writer))
    return f"{who} (salt {ours!r}) hits {case.name(id)} of {writer} (salt {theirs!r})", "no hit across salts"


def fenced_free(case: Case) -> Words:
    """A block is said to be free that a transfer may still touch."""
    id = case.facts["block"]
    pending = ", ".join(str(transfer) for transfer in sorted(case.state.blocks[id].fence))
    return (
        f"{case.name(id)} is in the free set while transfer {pending} may still touch it",
        "it is free once that is done",
    )


def counted_free(case: Case) -> Words:
    """Too many or too few blocks are said to be free."""
    free, usable, right = case.facts["free"], case.facts["usable"], case.facts["right"]
    held = usable - right
    return f"{free} of {usable} blocks are said to be free while {held} are held", f"{right} free"


def held_free(case: Case) -> Words:
    """A block is said to be free that a table names."""
    id = case.facts["block"]
    seen = f"{case.name(id)} is in the free set while the table of {_owners(case.state, id)} names it"
    return seen, "a block is free only when no table names it"


def past_a_hit(case: Case) -> Words:
    """More is computed than a hit leaves."""
    who, start, last, total = (case.facts[name] for name in ("request", "start", "last", "total"))
    seen = f"{who} computes positions {start} to {last} of {total} after a hit of {case.live.hit}"
    return seen, "the length scheduled is what the hit leaves"


def counted_hits(case: Case) -> Words:
    """The counter of hits is not what was hit."""
    again = f"({case.past.resumed_hit_tokens} more by resumed requests, which are recomputation)"
    return f"{case.facts['hits']} hit tokens are counted", f"{case.facts['right']} tokens were hit {again}"
