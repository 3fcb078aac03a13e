"""The adapters for transformers: what they translate, what a short check says, and each finding replayed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kvconformance.surfaces.generator.operations import Generate
from kvconformance.surfaces.stepper.operations import Abort, Step

pytest.importorskip("transformers")
pytest.importorskip("torch")

from kvconformance.history import Add, Fork, History
from kvconformance.search.check import check_here, replay
from kvconformance.search.examples import Plan
from kvconformance.search.trial import play
from kvconformance.surfaces.generator.driver import agrees
from kvengines.transformers import TransformersPool, TransformersStepper, engine
from kvengines.transformers.cache import RESERVED, CacheView, Layout, fresh_cache
from kvspec.violation import Tally
from kvspec.vocabulary import Capabilities, Request, RequestId, Surface, TokenId, World

KNOWN = {"sched/progress-or-reject", "sched/step-budget"}


def ask(name: str, length: int, new: int = 2) -> Request:
    return Request(RequestId(name), (TokenId(0),) * length, new)


@pytest.mark.parametrize(("index", "slot"), [(0, (0, 0)), (19, (1, 3)), (32, (2, 0)), (163, (10, 3))])
def test_a_physical_index_names_a_block_and_an_offset(index: int, slot: tuple[int, int]) -> None:
    assert Layout(stride=16, block_size=4).slot(index) == slot


@pytest.mark.parametrize("index", [-1, 4, 15, 36])
def test_rows_of_values_and_of_other_layers_are_no_places_of_keys(index: int) -> None:
    with pytest.raises(IndexError, match="no place of a key"):
        Layout(stride=16, block_size=4).slot(index)


def test_a_sector_is_a_block_and_the_trash_comes_first() -> None:
    cache = fresh_cache(World(num_blocks=9, block_size=5, token_budget=4))
    view = CacheView(cache)
    assert (cache.num_sectors, view.allocator.num_blocks, view.allocator.blocks_per_sector) == (7, 7, 1)
    assert sorted(view.free()) == list(range(2, 9))
    assert view.layout.slot(view.allocator.read_trash_index)[0] in RESERVED
    assert view.layout.slot(view.allocator.write_trash_index)[0] in RESERVED


def test_a_reused_cache_is_empty() -> None:
    world = World(num_blocks=8, block_size=4, token_budget=8)
    pool = TransformersPool(world)
    pool.admit(ask("A", 9), 9)
    pool.computed(RequestId("A"), 9)
    assert pool.keyed_blocks()
    again = TransformersPool(world)
    assert again.free_blocks() == 6 and not again.keyed_blocks() and not again.tables()


@pytest.mark.parametrize("width", [0, 4])
def test_slots_and_tokens_are_read_from_the_tensors(width: int) -> None:
    options = {"safety_margin": 0.0, "max_blocks_per_request": width}
    stepper = TransformersStepper(World(8, 4, 8, 2, policy="fifo", options=options))
    stepper.add(ask("A", 5))
    (first,) = stepper.plan().scheduled
    a, b = first.table
    assert first.slots == ((a, 0), (a, 1), (a, 2), (a, 3), (b, 0))
    assert first.tokens == (0,) * 5
    stepper.complete(None, {RequestId("A"): TokenId(1)})  # type: ignore[arg-type] # the tensors know the plan
    (second,) = stepper.plan().scheduled
    assert (second.start, second.count, second.tokens, second.table) == (5, 1, (1,), (a, b))
    assert second.slots == (None if width else ((b, 1),))


def test_a_short_check_breaks_only_what_is_known() -> None:
    report = check_here(engine(), Plan(examples=80, seconds=300, shrink_seconds=1))
    assert not report.fault
    assert {finding.rule_id for finding in report.findings} <= KNOWN


FINDINGS = {
    "one ends all": ("sched/progress-or-reject", (Add((0,) * 5),), {"num_blocks": 3}),
    "empty step": ("sched/step-budget", (Add((0,)),), {"options": {"num_return_sequences": 2}}),
    "endless wait": (
        "sched/progress-or-reject",
        (Add((1,) * 4 + (0,) * 5, 5), Step(), Step(), Fork(), Step(), Abort()),
        {"num_blocks": 6, "token_budget": 3, "caching": False},
    ),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_each_finding_replays(name: str) -> None:
    rule, operations, world = FINDINGS[name]
    options = {"safety_margin": 0.0, **world.get("options", {})}
    history = History(
        block_size=4, operations=operations, policy="fifo", **{"num_blocks": 8, **world, "options": options}
    )
    result = replay(engine(), Surface.STEPPER, history, Plan(), "transformers")
    assert [finding.rule_id for finding in result.findings] == [rule]


class Liar:
    """A Generator that answers with what it is told to."""

    capabilities = Capabilities()
    outputs: Any = staticmethod(lambda world, prompts, n: [[7] * n for _ in prompts])

    def __init__(self, world: World) -> None:
        self.world = world

    def generate(self, prompts: Any, max_new_tokens: int) -> Any:
        return self.outputs(self.world, prompts, max_new_tokens)

    def expected(self, prompt: Any, max_new_tokens: int) -> Any:
        return [7] * max_new_tokens


def served_by(outputs: Any, caching: bool = True) -> str | None:
    class Told(Liar):
        pass

    Told.outputs = staticmethod(outputs)
    history = History(8, 4, (Generate(((0,) * 4, (0,) * 9), 3),), caching=caching)
    trial = play(Told, Liar.capabilities, Surface.GENERATOR, history, Tally())
    return trial.violation.rule.id if trial.violation else None


def test_a_wrong_output_is_blamed_on_what_puts_it_right() -> None:
    def only_if(condition: Any) -> Any:
        return lambda world, prompts, n: [[8 if condition(world) else 7] * n for _ in prompts]

    assert served_by(only_if(lambda world: False)) is None
    assert served_by(only_if(lambda world: world.caching)) == "prefix/content-matches-key"
    assert served_by(only_if(lambda world: world.num_blocks < 9)) == "sched/resume-equals-uninterrupted"
    assert served_by(only_if(lambda world: True)) == "sched/chunk-independence"


def test_an_engine_that_raises_while_it_serves_is_a_finding() -> None:
    def raises(world: World, prompts: Any, n: int) -> Iterator[Any]:
        raise RuntimeError("no")

    assert served_by(raises) == "sched/progress-or-reject"


def test_tokens_behind_a_tie_are_not_judged() -> None:
    assert agrees([1, 2, 3], [1, 2], 3)
    assert not agrees([1, 3, 3], [1, 2], 3)
    assert not agrees([1, 2], [1, 2], 3)
