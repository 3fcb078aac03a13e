"""What can be said of runs once every state is known: that all can end, and that some scheduler makes all of them end.

In the relation, requests may be preempted and started again for ever, so that cycles are part of it; there the claim is
that from every state everything can still finish. Under first come, first served there is no cycle: with no dead end
and finitely many states, every run finishes every request (L2), and the longest run bounds how long that takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from kvexamine.explorer.broken import Broken
from kvspec import rules

Edges = Sequence[tuple[int, ...]]


def stuck(edges: Edges) -> int | None:
    """The first state from which no end can be reached; an end is a state without successors."""
    before: list[list[int]] = [[] for _ in edges]
    for place, following in enumerate(edges):
        for other in following:
            before[other].append(place)
    ends = deque(place for place, following in enumerate(edges) if not following)
    good = set(ends)
    while ends:
        for place in before[ends.popleft()]:
            if place not in good:
                good.add(place)
                ends.append(place)
    return next((place for place in range(len(edges)) if place not in good), None)


def longest_run(edges: Edges) -> int | None:
    """Moves of the longest run from the start; None where some run never ends."""
    incoming = [0] * len(edges)
    for following in edges:
        for other in following:
            incoming[other] += 1
    ready = deque(place for place, count in enumerate(incoming) if count == 0)
    rank, done = [0] * len(edges), 0
    while ready:
        place = ready.popleft()
        done += 1
        for other in edges[place]:
            rank[other] = max(rank[other], rank[place] + 1)
            incoming[other] -= 1
            if incoming[other] == 0:
                ready.append(other)
    return max(rank, default=0) if done == len(edges) else None


def on_a_cycle(edges: Edges) -> int:
    """A state that some run visits again; there must be one."""
    incoming = [0] * len(edges)
    for following in edges:
        for other in following:
            incoming[other] += 1
    ready = [place for place, count in enumerate(incoming) if count == 0]
    while ready:
        for other in edges[ready.pop()]:
            incoming[other] -= 1
            if incoming[other] == 0:
                ready.append(other)
    return next(place for place, count in enumerate(incoming) if count)


def broken_runs(edges: Edges, *, fcfs: bool) -> tuple[int, Broken] | None:
    """A state and what is wrong with the runs through it."""
    place = stuck(edges)
    if place is not None:
        return place, Broken(rules.PROGRESS_OR_REJECT, "L2: from here on not every request can finish any more")
    if fcfs and longest_run(edges) is None:
        return on_a_cycle(edges), Broken(rules.PROGRESS_OR_REJECT, "L2: from here a run comes back here for ever")
    return None
