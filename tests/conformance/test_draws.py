"""The seed alone decides what is tried."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from kvconformance.adapters import load
from kvconformance.claims import claimed
from kvconformance.history import History
from kvconformance.search.examples import Plan, search
from kvspec.vocabulary import Surface


def tried() -> list[History]:
    engine, histories = load("reference"), []
    search(engine, Surface.POOL, Plan(100), claimed(engine, Surface.POOL), journal=histories.append)
    return histories


def test_a_search_does_not_depend_on_the_modules_that_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    before = tried()
    (tmp_path / "an_engine_with_numbers.py").write_text("\n".join(f"n{n} = {n}" for n in range(101, 1_000)))
    importlib.import_module("an_engine_with_numbers")
    assert tried() == before
