"""The surface Pool without its optional methods: what the harness does not know is not held against the pool."""

from __future__ import annotations

from typing import Any

import pytest

from kvconformance.history import Add, Commit, Free, History, Reset
from kvconformance.search.trial import play
from kvreference.pool import ReferencePool
from kvspec import rules
from kvspec.plans import Admission
from kvspec.rules import Rule
from kvspec.violation import Tally
from kvspec.vocabulary import Request, Surface, World


class Silent:
    """The reference pool without `lookup`."""

    capabilities = ReferencePool.capabilities

    def __init__(self, world: World) -> None:
        self.pool: Any = ReferencePool(world)

    def __getattr__(self, name: str) -> Any:
        if name == "lookup":
            raise AttributeError(name)
        return getattr(self.pool, name)


class Shy(Silent):
    """Keeps two blocks back, which it does not declare."""

    def admit(self, request: Request, chunk: int) -> Admission | None:
        return self.pool.admit(request, chunk) if self.pool.free_blocks() > 2 else None


def broken(pool: type[Silent], *last: Add, blocks: int = 5, caching: bool = True, computed: bool = True) -> Rule | None:
    """The rule that a pool breaks: three blocks are held, one of the others has cached (0), and block 0 is reserved."""
    cached = (Add((0,)), Commit(), Free()) if computed else (Add((0,)), Free())
    history = History(blocks, 1, (*cached, Add((1,)), Add((1,)), Add((1,)), *last), caching=caching)
    trial = play(pool, pool.capabilities, Surface.POOL, history, Tally())  # type: ignore[arg-type]
    return trial.violation.rule if trial.violation else None


class Mute(Silent):
    """The reference pool with `lookup`, which does not show its index."""

    def __getattr__(self, name: str) -> Any:
        if name == "keyed_blocks":
            raise AttributeError(name)
        return getattr(self.pool, name)


class Forgetful(Mute):
    """Refuses to be reset, and has forgotten what is idle."""

    def reset(self) -> bool:
        refused = not self.pool.reset()
        for block in self.pool.blocks.idle:
            self.pool.cache.withdraw(block)
        return not refused


class Remembering(Mute):
    """Its `lookup` makes the record that an admission then uses, so it is asked only of who has not come yet."""

    def lookup(self, request: Request) -> Any:
        if request.id in self.pool.holdings:
            raise ValueError(f"{request.id} runs already")
        return self.pool.lookup(request)


class ForgetfulInSight(Forgetful):
    """Shows its index, and what it loses."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pool, name)


@pytest.mark.parametrize(
    ("pool", "rule"),
    [
        (Silent, None),
        (Mute, None),
        (Remembering, None),
        (Forgetful, rules.FAILURE_IS_ATOMIC),
        (ForgetfulInSight, rules.FAILURE_IS_ATOMIC),
    ],
)
def test_lookups_find_after_a_refused_reset_what_they_found_before(pool: type[Silent], rule: Rule | None) -> None:
    cached = (Add((0, 0, 0)), Commit(), Free(), Add((1,)), Commit())
    refused = History(6, 1, (*cached, Reset()))
    trial = play(pool, pool.capabilities, Surface.POOL, refused, Tally())  # type: ignore[arg-type]
    assert (trial.violation.rule if trial.violation else None) is rule
    accepted = History(6, 1, (*cached, Free(), Reset(), Add((0, 0, 0))))
    assert play(pool, pool.capabilities, Surface.POOL, accepted, Tally()).violation is None  # type: ignore[arg-type]


def test_a_refusal_is_right_if_some_hit_would_take_more_than_is_free() -> None:
    assert broken(Silent, Add((0, 1), chunk=1)) is None
    assert broken(Shy, Add((0, 1), chunk=1), blocks=6) is rules.FIT_AGREES_WITH_ALLOCATE


@pytest.mark.parametrize(
    ("last", "options"),
    [
        (Add((0, 1), chunk=1, salt="x"), {}),
        (Add((1, 0), chunk=1), {}),
        (Add((0,), chunk=1), {}),
        (Add((0, 1), chunk=1), {"computed": False}),
        (Add((0, 1), chunk=1), {"caching": False}),
    ],
    ids=["of another tenant", "held by others already", "leaves no token", "never computed", "nothing is cached"],
)
def test_a_hit_that_would_be_wrong_excuses_no_refusal(last: Add, options: dict[str, bool]) -> None:
    class Late(Shy):
        """Shy towards whoever comes last."""

        def admit(self, request: Request, chunk: int) -> Admission | None:
            return None if request.id == "E" else self.pool.admit(request, chunk)

    assert broken(Late, last, **options) is rules.FIT_AGREES_WITH_ALLOCATE
