"""A minute of `make portable`: this machine, and this machine made old and put elsewhere, compute the kept bits."""

from __future__ import annotations

import pytest

from tests.portable.comparing import computed_in, differences, kept_digests
from tests.portable.environments import Environment, environments, few
from tests.portable.vectors import Results


def test_the_same_bits_here_on_an_older_processor_and_where_they_were_kept() -> None:
    results = {environment.name: computed_in(environment, searching=False) for environment in few()}
    assert list(differences(kept_digests(), results)) == []


def test_every_environment_differs_from_the_machine_as_it_is() -> None:
    first, *others = environments()
    assert first.variables == {} and all(other.variables for other in others)
    assert len({other.name for other in others}) == len(others) >= 5


def test_an_environment_takes_away_what_the_machine_had_set() -> None:
    base = {"OPENBLAS_CORETYPE": "Haswell", "PATH": "/bin"}
    assert Environment("as it is").of(base) == {"PATH": "/bin"}
    assert Environment("old", {"OPENBLAS_CORETYPE": "Prescott"}).of(base)["OPENBLAS_CORETYPE"] == "Prescott"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Results({"a": "9"}, {"b": "2"}, {"c": ([0.0], [1.0])}), ["a differs in 'there'"]),
        (Results({"a": "1"}, {"b": "9"}, {"c": ([0.0], [1.0])}), ["b differs between 'here' and 'there'"]),
        (
            Results({"a": "1"}, {"b": "2"}, {"c": ([1.5], [2.0])}),
            ["c: the intervals of 'here' and 'there' do not meet"],
        ),
        (Results({"a": "1"}, {"b": "2"}, {"c": ([0.5], [2.0])}), []),
    ],
)
def test_what_differs_is_named(other: Results, said: list[str]) -> None:
    here = Results({"a": "1"}, {"b": "2"}, {"c": ([0.0], [1.0])})
    assert list(differences({"a": "1"}, {"here": here, "there": other})) == said


def test_a_vector_that_is_not_kept_or_no_longer_computed_is_named() -> None:
    here = Results({"new": "1"}, {}, {})
    assert list(differences({"old": "1"}, {"here": here})) == ["new is not kept", "old is kept and not computed"]
