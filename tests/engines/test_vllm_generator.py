"""vLLM as a whole engine: its tokens are those of plain decoding, unless its known fault is provoked."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kvconformance.surfaces.generator.operations import Generate

pytest.importorskip("vllm")

from kvconformance.adapters import load
from kvconformance.history import History
from kvconformance.search.examples import Plan
from kvconformance.search.supervise import check_supervised
from kvconformance.surfaces import Engine
from kvconformance.telling.report import Report
from kvspec.vocabulary import Surface

pytestmark = pytest.mark.engine("vllm")
KNOWN = {"sched/chunk-independence", "prefix/content-matches-key"}
"""What falls with `prefix/publish-only-computed`, which a Generator does not see."""


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Import vLLM once, before children fork; engines are built in these and end with them."""
    if Surface.GENERATOR not in load("vllm").factories:
        pytest.skip("this build of vLLM has no kernels for a CPU")


def check_generator(load_engine: Any, *, history: History | None = None, examples: int = 1) -> Report:
    plan = Plan(examples=examples, seconds=300.0, shrink_seconds=1.0, patience=60.0)
    report = check_supervised(load_engine, plan, name="vllm", surfaces=[Surface.GENERATOR], history=history)
    assert not report.fault
    return report


def found(report: Report) -> set[str]:
    return {finding.rule_id for finding in report.findings}


def test_a_short_check_breaks_nothing_but_what_is_known() -> None:
    report = check_generator(lambda: load("vllm"), examples=25)
    assert found(report) <= KNOWN
    (line,) = (line for line in report.rules if line.rule.id == "sched/chunk-independence")
    assert line.exercised > 25


def overtaken(**world: Any) -> History:
    """A long prompt loses its blocks to a short one of higher priority that comes a step later."""
    draw = random.Random(1)
    prompts = tuple(tuple(draw.randrange(3, 128) for _ in range(length)) for length in (224, 32))
    options = {"arrivals": "one each step", "priorities": "rising", "long_prefill_token_threshold": 48}
    return History(9, 32, (Generate(prompts, 3),), 128, 2, **{"policy": "priority", **world}, options=options)


@pytest.mark.parametrize(
    ("world", "rules"),
    [({}, {"sched/chunk-independence"}), ({"policy": "fcfs"}, set()), ({"caching": False}, set())],
    ids=["provoked", "under fcfs", "without a prefix cache"],
)
def test_a_hit_on_a_block_that_no_step_computed_gives_wrong_tokens(world: dict[str, Any], rules: set[str]) -> None:
    assert found(check_generator(lambda: load("vllm"), history=overtaken(**world))) == rules


def forgetful() -> Engine:
    """The engine with a key that forgets the tokens of a block; only in the child that builds it."""
    from vllm.v1.core import kv_cache_utils

    honest = kv_cache_utils.hash_block_tokens
    kv_cache_utils.hash_block_tokens = lambda function, parent, tokens, extra=None: honest(
        function, parent, [0] * len(tokens), extra
    )
    return load("vllm")


def test_wrong_hits_show_as_wrong_tokens() -> None:
    prompts = ((0,) * 40, (1,) * 40)
    options = {"rounds": 2, "arrivals": "one each step"}
    history = History(8, 32, (Generate(prompts, 4),), 128, 2, options=options)
    assert found(check_generator(forgetful, history=history)) == {"prefix/content-matches-key"}
