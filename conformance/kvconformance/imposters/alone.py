"""Whether another check would kill an imposter if the check that does were taken out of the suite.

Taken out means: wherever the rule is guarded, the guard finds nothing wrong and the example goes on. An imposter that
then lives shows that this check, and no other, stands between its bug and a verdict "held".
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from hypothesis import Phase

from kvconformance.claims import claimed
from kvconformance.history import History
from kvconformance.imposters.registry import Imposter, surface_of
from kvconformance.search.draws import try_histories
from kvconformance.search.examples import judged_by
from kvconformance.search.trial import play
from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import kind_of
from kvexamine.explorer.blind import Blind
from kvspec.rules import Rule

PATIENCE = 2.0


class _Killed(Exception):
    """Ends the search."""


def other_killer(
    imposter: Imposter, rule: Rule, seed: int = 0, *, examples: int | None = None, at_least: int = 0
) -> Rule | None:
    """Another rule that the imposter is seen to break when nobody checks `rule`; None if there is none.

    `examples` is how many are tried (None: what is `enough` for the surface, and `at_least` so many).
    """
    surface = surface_of(imposter)
    kind = kind_of(surface)
    engine = Engine(imposter.__name__, "imposter", {surface: imposter})
    capabilities, judged = engine.capabilities(surface), frozenset(claimed(engine, surface)) - {rule}
    killers: list[Rule] = []

    def attempt(history: History) -> None:
        try:
            with np.errstate(all="ignore"):
                trial = play(imposter, capabilities, surface, history, Blind(rule), PATIENCE)
        except Exception:  # what stands behind the missing check was never meant to see such a state
            return
        if (violation := judged_by(trial.violation, judged)) is not None:
            killers.append(violation.rule)
            raise _Killed

    wanted = examples or max(kind.enough, at_least)
    with suppress(_Killed):
        try_histories(kind.histories(capabilities), attempt, seed=seed, examples=wanted, phases=(Phase.generate,))
    return killers[0] if killers else None
