"""Files that commands write: what cannot be written is found before the work and told in one line, with status 2."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kvconformance.cli import app
from kvconformance.commands import explore, prove
from kvconformance.telling import output

FULL = Path("/dev/full")
full = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


def refused(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments])
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    return done.output


@pytest.mark.parametrize(
    "command",
    [
        ("check", "reference"),
        ("imposters",),
        ("explore",),
        ("refine", "reference"),
        ("prove",),
    ],
    ids=lambda command: command[0],
)
def test_a_report_that_cannot_be_written_is_found_before_the_work(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if command == ("prove",):
        pytest.importorskip("z3")
        pytest.importorskip("crosshair")
        monkeypatch.setattr("kvconformance.commands.prove._told", lambda *told: pytest.fail("it began to work"))
    assert "cannot write /nowhere/x.json: No such file" in refused(*command, "--json", "/nowhere/x.json")


@full
@pytest.mark.parametrize(
    "command", [("explore", "--scope", "fork"), ("refine", "reference", "--events", "1")], ids=lambda told: told[0]
)
def test_a_disk_that_is_full_is_told_in_one_line(command: tuple[str, ...]) -> None:
    assert f"cannot write {FULL}: No space left" in refused(*command, "--json", str(FULL))


@full
def test_a_trace_for_which_there_is_no_room_is_told_in_one_line() -> None:
    assert f"cannot write {FULL}: No space left" in refused("record", "reference", str(FULL), "--steps", "3")


def test_asking_whether_a_file_can_be_written_leaves_no_file_and_changes_none(tmp_path: Path) -> None:
    output.require_writable(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "old").write_text("text")
    output.require_writable(tmp_path / "old")
    assert (tmp_path / "old").read_text("utf-8") == "text"
    with pytest.raises(typer.Exit):
        output.require_writable(tmp_path)


def test_every_command_that_writes_uses_the_same_words() -> None:
    assert explore.write is prove.write is output.write


def test_an_unknown_scope_is_told_in_two_sentences() -> None:
    assert "no scope is called 'nonsense'. There are: " in refused("explore", "--scope", "nonsense")
