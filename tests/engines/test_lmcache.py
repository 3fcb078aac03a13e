"""LMCache's host cache breaks nothing, and the adapter lets faults through that somebody puts into it."""

from __future__ import annotations

import os
from typing import Any

import pytest

os.environ.setdefault(
    "LMCACHE_LOG_LEVEL", "CRITICAL"
)  # it warns of each object that an engine takes along when it ends
pytest.importorskip("lmcache")

from lmcache.v1.memory_management import TensorMemoryObj
from lmcache.v1.token_database import ChunkedTokenDatabase

from kvconformance.adapters import load
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.telling.report import Report, Verdict

pytestmark = pytest.mark.engine("lmcache")


def checked(examples: int) -> Report:
    return check_here(load("lmcache"), Plan(examples=examples, seconds=300.0, shrink_seconds=0.5, first_only=True))


def test_nothing_is_broken_and_every_rule_is_reached() -> None:
    report = checked(150)
    assert not report.fault
    assert not report.with_verdict(Verdict.BROKEN)
    assert not report.with_verdict(Verdict.NOT_REACHED)


def without_chain(self: Any, chunks: Any) -> Any:
    return (self._hash_tokens(chunk, 0) for chunk in chunks)


def without_tags(self: Any, chunk_hash: int, request_configs: Any = None) -> Any:
    return honest_key(self, chunk_hash, None)


honest_key = ChunkedTokenDatabase._make_key_by_hash


@pytest.mark.parametrize(
    ("owner", "name", "faulty", "rules"),
    [
        (ChunkedTokenDatabase, "_prefix_hash", without_chain, {"prefix/content-matches-key", "prefix/complete-key"}),
        (ChunkedTokenDatabase, "_make_key_by_hash", without_tags, {"sec/isolation"}),
        (
            TensorMemoryObj,
            "ref_count_up",
            lambda self: None,
            {"alloc/no-dangling-reference", "alloc/count-equals-holders", "alloc/conservation"},
        ),
    ],
    ids=["keys without the chunks before", "keys without tags", "holders that are not counted"],
)
def test_a_fault_is_found(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, faulty: Any, rules: set[str]) -> None:
    monkeypatch.setattr(owner, name, faulty)
    found = {finding.rule_id for finding in checked(300).findings}
    assert found and found <= rules
