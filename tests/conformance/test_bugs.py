"""Every public bug of the table is imitated or has a reason why not, and every imposter imitates one of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from kvconformance.bugs import BUGS, Bug, Why, read
from kvconformance.imposters import IMPOSTERS, Imposter
from kvconformance.imposters.controls import CONTROLS
from kvspec.rules import RULES, Rule

ROOT = Path(__file__).parents[2]
NAMED = {imposter.__name__: imposter for imposter in IMPOSTERS}
BY_ID = {bug.id: bug for bug in BUGS}


def test_each_bug_stands_once_and_in_order() -> None:
    ids = [bug.id for bug in BUGS]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"B\d{3}", id) for id in ids)
    assert len(ids) >= 205


def test_each_address_is_that_of_one_public_thread() -> None:
    assert all(re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", bug.address) for bug in BUGS)
    assert [address for address, times in Counter(bug.address for bug in BUGS).items() if times > 1] == []


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_a_bug_is_imitated_or_says_why_not(bug: Bug) -> None:
    assert bug.rules and bug.project
    assert len(bug.cause) > 20 and not bug.cause.endswith(".")
    assert bool(bug.imposters) == (bug.why is None) == (not bug.reason)
    assert bool(bug.controls) or bug.why is not Why.DRIFT


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.imposters], ids=lambda bug: bug.id)
def test_the_imposters_of_a_bug_exist_and_name_it(bug: Bug) -> None:
    for name in bug.imposters:
        assert NAMED[name].bug == bug.id
        assert NAMED[name].broken_rule in bug.rules
        cited = re.search(r"\(([^()]+ #\d+)(, a guess)?\)\.$", NAMED[name].__doc__ or "")
        assert cited is not None and cited[1] == bug.reference


@pytest.mark.parametrize("imposter", IMPOSTERS, ids=lambda imposter: imposter.__name__)
def test_every_imposter_stands_in_the_table(imposter: Imposter) -> None:
    assert imposter.__name__ in BY_ID[imposter.bug].imposters


def test_the_controls_stand_in_the_table() -> None:
    listed = {name: bug.id for bug in BUGS for name in bug.controls}
    assert listed == {control.__name__: control.report for control in CONTROLS}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_every_checked_rule_has_two_imposters(rule: Rule) -> None:
    assert len([imposter for imposter in IMPOSTERS if imposter.broken_rule is rule]) >= 2


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("id\tproject\n", "the columns are"),
        ("HEAD\nB001\tvLLM\n", "line 2"),
        ("HEAD\nB001\tvLLM\thttps://x\tno/rule\tc\tI\t\t\t\n", "no rule is called"),
        ("HEAD\nB001\tvLLM\thttps://x\tsec/isolation\tc\t\t\tbecause\tr\n", "because"),
    ],
)
def test_a_wrong_table_is_one_clear_line(text: str, wrong: str) -> None:
    header = "\t".join(("id", "project", "address", "rules", "cause", "imposters", "controls", "why", "reason"))
    with pytest.raises(ValueError, match=wrong):
        read(text.replace("HEAD", header))
