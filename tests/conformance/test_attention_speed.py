"""What the judgement of one attention output costs, next to the float64 reference that computes it."""

from __future__ import annotations

from typing import Any

import pytest

from kvconformance.engines.reference_attention import ARITHMETIC, ReferenceAttention
from kvconformance.surfaces.attention.judging.certified import allowed
from kvconformance.surfaces.attention.judging.outcomes import attend, wrong
from kvconformance.surfaces.attention.operations import Attend
from kvconformance.surfaces.attention.problems.numbers import problem_of
from kvconformance.surfaces.attention.problems.placements import Placement, place
from kvreference.paged_attention import paged_attention
from kvspec.vocabulary import World

SIZE = 16
OPERATION = Attend(((1024, 1), (1024, 1)), heads=(4, 2, 128), dtype="bf16")
OUTPUTS = 2 * 4 * 128


def _per_output(benchmark: Any) -> None:
    if benchmark.stats is not None:
        benchmark.extra_info["nanoseconds_per_output"] = benchmark.stats.stats.median / OUTPUTS * 1e9


@pytest.mark.benchmark(group="attention, 1,024 tokens, head dim 128")
def test_float64_reference(benchmark: Any) -> None:
    problem, kernel = problem_of(OPERATION, SIZE), ReferenceAttention(World(130, SIZE))
    call = place(problem, Placement(130, SIZE))
    cache, batch, layer = kernel.cache(call), kernel.batch(call), kernel.layer(call)
    benchmark(paged_attention, problem.query, cache, batch, layer)
    _per_output(benchmark)


@pytest.mark.parametrize("certificate", ["T1", "T2"])
@pytest.mark.benchmark(group="attention, 1,024 tokens, head dim 128")
def test_checker(benchmark: Any, certificate: str) -> None:
    problem, kernel = problem_of(OPERATION, SIZE), ReferenceAttention(World(130, SIZE))
    outcome = attend(kernel, place(problem, Placement(130, SIZE)))
    declaration = ARITHMETIC["bf16"] if certificate == "T2" else type(ARITHMETIC["bf16"])("bf16", "bf16")

    def judge() -> object:
        return wrong(outcome, allowed(problem, declaration, 2.0**-24), judge_lse=True)

    assert benchmark(judge) is None
    _per_output(benchmark)
