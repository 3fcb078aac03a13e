"""Hypothesis as our searches use it: the seed alone decides what is tried.

Hypothesis mixes constants from the source files of all imported modules into what it draws, so that the same seed tries
other histories wherever another module is imported, and it reads all those files first. It has no setting for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.strategies import SearchStrategy

from kvconformance.history import History

_CONSTANTS = "_maybe_draw_constant"


@contextmanager
def _no_constants() -> Iterator[None]:
    """Until the block ends; a Hypothesis that has no constants, or other ones, is left as it is."""
    before = getattr(HypothesisProvider, _CONSTANTS, None)
    if before is None:
        yield
        return
    setattr(HypothesisProvider, _CONSTANTS, lambda *arguments, **more: None)
    try:
        yield
    finally:
        setattr(HypothesisProvider, _CONSTANTS, before)


def try_histories(
    histories: SearchStrategy[History],
    attempt: Callable[[History], None],
    *,
    seed: int,
    examples: int,
    phases: Sequence[Phase],
    drawn: list[History] | None = None,
) -> None:
    """Call `attempt` with so many histories; what it raises is a bug to Hypothesis, which may shrink it, and passes.

    `drawn` has the first of them from an earlier call with the same arguments, and gets those that are drawn now: the
    first are not drawn again, and one of them that raises is not shrunk.
    """
    for history in drawn or ():
        attempt(history)
    known, first = len(drawn or ()), True

    def later(history: History) -> None:
        nonlocal known, first
        if known:
            known -= 1
            return
        if drawn is not None and first:
            drawn.append(history)
        try:
            attempt(history)
        except BaseException:
            first = False  # whatever follows is a shrunk one
            raise

    settings = hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        print_blob=False,
    )
    with _no_constants():
        hypothesis.seed(seed)(settings(hypothesis.given(histories)(later)))()
