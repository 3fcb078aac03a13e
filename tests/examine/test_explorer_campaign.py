"""What the explorer found last is kept: of the scopes and faults as they are, and it comes out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvexamine.explorer import ALL, everyday
from kvexamine.explorer.campaign import main, read, scope_line, written
from kvexamine.explorer.faults import FAULTS
from kvexamine.explorer.results import Result

KEPT = read()
NOTICED = {line.name: line.noticed for line in KEPT.faults}


def test_the_scopes_are_kept_as_they_are() -> None:
    told = [(line.name, line.world, line.about) for line in KEPT.scopes]
    large = {name for name, _, _ in told if ALL[name].large}
    wanted = [scope for scope in ALL.values() if not scope.large or scope.name in large]
    assert told == [(scope.name, str(scope), scope.about) for scope in wanted]
    assert len({world for _, world, _ in told}) == len(told) == len({about for _, _, about in told})
    assert all(line.transitions >= line.states > line.depth > 0 for line in KEPT.scopes)


def test_the_faults_are_kept_as_they_are() -> None:
    assert [(line.name, line.says) for line in KEPT.faults] == [(name, fault.says) for name, fault in FAULTS.items()]
    for name, noticed in NOTICED.items():
        assert noticed and all(FAULTS[name].shows_in(ALL[scope]) and not ALL[scope].large for scope in noticed)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed_as_is_kept(name: str) -> None:
    noticed = NOTICED[name]
    scope = min(noticed, key=lambda one: (noticed[one][0], one in ("prefix", "groups-any"), one))
    result = FAULTS[name].tried(ALL[scope])
    (violation,) = result.violations
    assert (result.moves, violation.rule) == noticed[scope]
    assert len(violation.history) > noticed[scope][0] and violation.history[0].startswith("world: ")


@pytest.mark.parametrize("name", [scope.name for scope in everyday()])
def test_every_scope_notices_a_fault(name: str) -> None:
    assert any(name in noticed for noticed in NOTICED.values())


def test_the_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "explorer.json"
    path.write_text(written(KEPT), "utf-8")
    assert read(path) == KEPT
    main(str(path))
    assert path.read_text("utf-8") == written(KEPT)


def test_only_what_was_seen_and_held_is_kept() -> None:
    with pytest.raises(ValueError, match="chains: not complete"):
        scope_line(Result("chains", 5, 7, 2, 0.1, complete=False))
