"""Histories of a scheduler with its cache."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from kvconformance import history as h
from kvconformance.surfaces.programs import (
    TOLD,
    Phrase,
    Theme,
    history,
    pick,
    programs,
    request_phrase,
    requests,
    resets_and_failures,
    themed,
    worlds,
)
from kvconformance.surfaces.stepper.operations import Abort, Begin, End, Step, Transfer
from kvspec.vocabulary import Capabilities


def stepper_histories(capabilities: Capabilities) -> st.SearchStrategy[h.History]:
    """Histories for a stepper with these capabilities."""

    def late(size: int) -> st.SearchStrategy[h.History]:
        return overtaken(capabilities, size)

    return themed(
        capabilities,
        lambda size, theme: programs(_phrases(capabilities, size, theme)),
        late if "priority" in capabilities.policies else None,
    )


def _phrases(capabilities: Capabilities, block_size: int, theme: Theme) -> st.SearchStrategy[Phrase]:
    choices = {**requests(capabilities, block_size, theme), "after": _after_add(), "told": TOLD}
    return st.one_of(st.sampled_from(_between(capabilities)), pick(choices).map(request_phrase))


def _after_add() -> list[Phrase]:
    step = Step()
    return [(), (), (), (step,), (step,), (step, step), (step, step, step)]


def _between(capabilities: Capabilities) -> list[Phrase]:
    step, begin, end = Step(), Begin(), End()
    phrases: list[Phrase] = [(step,)] * 4 + [(step, step)] * 4 + [(step, step, step)] * 2
    if capabilities.max_in_flight > 1:
        phrases += [(begin,)] * 4 + [(begin, begin)] * 3 + [(begin, end), (end,)] + [(end, begin)] * 4
    elif capabilities.aborts:
        phrases += [(begin,)] * 2
    done = Transfer(0)
    if "swap" in capabilities.preemptions:
        phrases += [(done,), (Transfer(1),), (done, step), (done, step)]
    if "swap" in capabilities.preemptions and capabilities.aborts:
        phrases += [(done, step, Abort(which)) for which in (0, 1, -1)] * 2
    if capabilities.aborts:
        phrases += [(Abort(which),) for which in (0, -1)] + [(begin, Abort(0)), (step, Abort(-1))]
    if capabilities.forks:
        phrases += [(h.Fork(which),) for which in (0, -1)] + [(h.Fork(0), step)]
    return phrases + resets_and_failures(capabilities)


def overtaken(capabilities: Capabilities, block_size: int) -> st.SearchStrategy[h.History]:
    """A long request that may wait is in its prefill when a short one comes that may not, and needs the last block."""
    lengths = pick({"long": (4, 5, 6), "steps": (1, 2, 3), "new": (2, 3), "spare": (0, 1, 2)})

    def build(world: dict[str, Any], picked: dict[str, int]) -> h.History:
        long = h.Add((0,) * (picked["long"] * block_size + 1), 1, priority=2)
        short = h.Add((1,) * block_size, picked["new"])
        need = -(-(len(long.prompt) + 1) // block_size) + len(capabilities.reserved_blocks) + picked["spare"]
        tight = {**world, "policy": "priority", "num_blocks": min(need, capabilities.num_blocks[1])}
        return history(tight, (long, *(Step(),) * picked["steps"], short, *(Step(),) * 3))

    return st.builds(build, worlds(capabilities, block_size), lengths)


def usually(capabilities: Capabilities, dice: Random, which: int) -> h.Operation:
    """In busy traffic there is a step, or a half of one, or a transfer is done."""
    if capabilities.max_in_flight > 1 and dice.random() < 0.5:
        return dice.choice((Begin(), End()))
    if "swap" in capabilities.preemptions and dice.random() < 0.3:
        return Transfer(which)
    return Step()


def rarely(capabilities: Capabilities, dice: Random, which: int) -> list[h.Operation]:
    """Now and then a client cancels."""
    return [Abort(which)] if capabilities.aborts else []
