"""Every quantizer with a public bug is killed by the rule that the bug breaks, or by one that implies it."""

from __future__ import annotations

import re

import pytest

from kvconformance.imposters import IMPOSTERS, Imposter, try_imposter
from kvspec.rules import RULES

OURS = [imposter for imposter in IMPOSTERS if imposter.broken_rule.id.startswith("quant/")]


def test_there_are_at_least_thirteen_and_each_rule_has_one() -> None:
    assert len(OURS) >= 13
    assert {imposter.broken_rule.id for imposter in OURS} == {id for id in RULES if id.startswith("quant/")}
    assert len({imposter.bug for imposter in OURS}) == len(OURS)


@pytest.mark.parametrize("imposter", OURS, ids=lambda imposter: imposter.__name__)
def test_it_is_killed(imposter: Imposter) -> None:
    assert re.fullmatch(r"[^\n]+ \([\w./ -]+ #\d+\)\.", imposter.__doc__ or "")
    kill = try_imposter(imposter, seed=1, seconds=300)
    assert kill.killed
    assert RULES[kill.by or ""].covers(imposter.broken_rule)
