"""The list of equivalent mutants: each entry has a reason and still names a mutant that can be made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")
pytest.importorskip("mutmut")

from tests.mutation import campaign, equivalents
from tests.mutation.mutants import ROOT, mutants_of, path_of
from tests.mutation.scope import SCOPE, chosen
from tests.mutation.session import Session
from tests.mutation.trying import Fate

ENTRIES = equivalents.load()


def test_every_entry_names_a_module_of_the_scope() -> None:
    assert {entry.module for entry in ENTRIES.values()} <= set(SCOPE)


@pytest.mark.parametrize("module", sorted({entry.module for entry in ENTRIES.values()}))
def test_every_entry_names_a_mutant_that_can_still_be_made(module: str) -> None:
    made = {mutant.key for mutant in mutants_of(module)}
    assert [key for key, entry in ENTRIES.items() if entry.module == module and key not in made] == []


def test_a_reason_is_a_sentence() -> None:
    assert [entry for entry in ENTRIES.values() if len(entry.why.split()) < 4 or not entry.why.endswith(".")] == []


def test_an_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    mutant = mutants_of("kvreference.prefix_cache")[0]
    path = tmp_path / "equivalent.toml"
    path.write_text(equivalents.entry_for(mutant, "Nothing reads it afterwards."))
    assert list(equivalents.load(path)) == [mutant.key]
    path.write_text(equivalents.entry_for(mutant))
    with pytest.raises(ValueError, match="lacks"):
        equivalents.load(path)


def test_an_entry_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    entry = equivalents.entry_for(mutants_of("kvreference.prefix_cache")[0], "Nothing reads it afterwards.")
    path = tmp_path / "equivalent.toml"
    path.write_text(entry + entry)
    with pytest.raises(ValueError, match="twice"):
        equivalents.load(path)


def test_a_mutant_changes_one_place_of_a_module_that_can_still_be_read() -> None:
    original = (ROOT / "reference/kvreference/prefix_cache.py").read_text(encoding="utf-8").splitlines()
    for mutant in mutants_of("kvreference.prefix_cache"):
        compile(mutant.source, "mutant", "exec")
        lines = mutant.source.splitlines()
        assert len(lines) == len(original)
        assert sum(old != new for old, new in zip(original, lines, strict=True)) == 1


def test_words_are_not_mutated() -> None:
    """An f-string and an annotation hold operators too, but nobody computes with them."""
    told = 'lambda: (f"{known} blocks of {size} are published with {tokens} tokens", f"{known * size} tokens"),'
    annotated = "def extend(self, id: RequestId, count: int) -> Extension | None:"
    assert told in _stripped(path_of("kvspec.mirror")) and annotated in _stripped(path_of("kvreference.pool"))
    assert told not in {mutant.before for mutant in mutants_of("kvspec.mirror")}
    assert annotated not in {mutant.before for mutant in mutants_of("kvreference.pool")}


def _stripped(path: Path) -> set[str]:
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}


def test_a_guard_is_loosened_and_tightened() -> None:
    made = {
        (one.before, one.after) for one in mutants_of("kvspec.transition.guards") if one.function == "require_budget"
    }
    assert {
        ("if count < 1:", "if count <= 1:"),
        ("if count < 1:", "if count < 0:"),
        ("if count > state.left:", "if count >= state.left:"),
    } <= made


def test_modules_are_chosen_by_the_end_of_their_names() -> None:
    assert chosen(["guards", "pool"]) == ["kvreference.pool", "kvspec.transition.guards"]
    assert chosen([]) == list(SCOPE)
    with pytest.raises(SystemExit, match="no module"):
        chosen(["nowhere"])


def test_a_mutant_that_a_test_notices_is_killed_and_the_module_as_it_is_lives(tmp_path: Path) -> None:
    """In a process of its own, because this one has imported the module already."""
    trial = f"""
from pathlib import Path
from tests.mutation.mutants import mutants_of
from tests.mutation.trying import try_mutant
from tests.mutation.campaign import unchanged
(guard,) = (one for one in mutants_of("kvspec.transition.guards") if one.after == "if count < 0:")
empty = Path({str(tmp_path / "corpus.json")!r})
print(try_mutant(guard, empty, 60).how, try_mutant(unchanged("kvspec.transition.guards"), empty, 60).how)
"""
    (tmp_path / "corpus.json").write_text('{"honest": {}, "fatal": {}}')
    done = subprocess.run([sys.executable, "-c", trial], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.split() == ["tests", "survived"], done.stderr


def test_the_table_counts_each_mutant_once_and_a_survivor_without_an_excuse_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, session = "kvreference.prefix_cache", Session(tmp_path / "fates.jsonl")
    first, second, *rest = mutants_of(module)
    session.record(first, Fate("survived"))
    session.record(second, Fate("survived"))
    for mutant in rest:
        session.record(mutant, Fate("tests", "one"))
    total = len(rest) + 2
    assert f"| all | {total} | {len(rest)} | 0 | 0 | 0 | 0 | 1 | 1 |" in campaign.table([module], session, {first.key})
    assert campaign.judge([module], session, {first.key}) == 1
    assert f"survived: {second}" in capsys.readouterr().out
    assert campaign.judge([module], session, {first.key, second.key}) == 0
    assert campaign.judge([module], session, {first.key, second.key, rest[0].key}) == 1
    assert f"listed as equivalent, yet noticed: {rest[0]}: one" in capsys.readouterr().out


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "fates.jsonl"
    killed, excused, alive, unknown, *_ = mutants_of("kvreference.prefix_cache")
    before = Session(path)
    before.record(killed, Fate("honest", "seen", 0.5))
    before.record(excused, Fate("survived"))
    before.record(alive, Fate("survived"))
    after = Session(path)
    assert after.fates[killed.digest] == Fate("honest", "seen", 0.5)
    assert [after.settled(one, {excused.key}) for one in (killed, excused, alive, unknown)] == [
        True,
        True,
        False,
        False,
    ]
    assert Session(path, fresh=True).fates == {}
