"""What `quant/commutes` speaks of is put to the test: crop above all, which must not part codes from their scales."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kvconformance.adapters import as_engine
from kvconformance.engines.reference_quantizer import ReferenceQuantizer
from kvconformance.history import History
from kvconformance.search.check import check_here
from kvconformance.search.examples import Plan
from kvconformance.search.trial import Trial, play
from kvconformance.surfaces.quantizer import Array, Declaration, QuantizerCapabilities, Single
from kvconformance.surfaces.quantizer.expected import token_group
from kvconformance.surfaces.quantizer.operations import Append, Crop, Reorder, Restart, Values
from kvreference.quantizers import Encoded, Scales, encode
from kvspec.numbers.groups import Extent, groups
from kvspec.numbers.schemes import SCHEMES
from kvspec.refusals import ShapeError
from kvspec.rules import COMMUTES, SCALE_FROM_VALID_DATA
from kvspec.violation import Tally
from kvspec.vocabulary import Surface, World

KIVI = World(2, 1, max_running=1, options={"scheme": "kivi-key", "kv_heads": 1, "head_dim": 1})
ONE_OF_EACH_GRANULARITY = ("int8/tensor", "uint8/token-head", "int8/head", "int8/channel", "q4_1", "kivi-key")


def only(*names: str) -> QuantizerCapabilities:
    return replace(ReferenceQuantizer.capabilities, schemes={name: Declaration(SCHEMES[name]) for name in names})


def tried(adapter: Any, *operations: Any, scheme: str = "int8/token-head", tally: Tally | None = None) -> Trial:
    options = {"scheme": scheme, "kv_heads": 2, "head_dim": 32}
    history = History(2, 2, operations, max_running=2, options=options)
    return play(adapter, adapter.capabilities, Surface.QUANTIZER, history, tally or Tally())


class Counting(ReferenceQuantizer):
    """The reference, and how often it was cropped by how many tokens."""

    crops: Counter[int]

    def crop(self, count: int) -> None:
        self.crops[count] += 1
        super().crop(count)


@pytest.fixture
def counting() -> type[Counting]:
    return type("Fresh", (Counting,), {"crops": Counter()})


@pytest.mark.parametrize("name", list(SCHEMES))
def test_a_crop_of_whole_groups_cuts_no_scale_that_other_tokens_need(name: str) -> None:
    scheme, extent = SCHEMES[name], Extent(3 * token_group(SCHEMES[name]), 2, 64)
    row = extent.kv_heads * extent.head_dim
    cut = [{i // row < extent.tokens - token_group(scheme) for i in members} for members in groups(extent, scheme)]
    both = sum(len(sides) == 2 for sides in cut)
    assert both in (0, len(cut)), "a scale of some tokens is cut, while other tokens have scales of their own"


@pytest.mark.parametrize("name", ONE_OF_EACH_GRANULARITY)
def test_the_reference_crops_whole_groups_and_the_rule_is_put_to_the_test(name: str, counting: type[Counting]) -> None:
    step, tally = token_group(SCHEMES[name]), Tally()
    chunks = [Append(Values("noise", step, seed, exponent=seed)) for seed in range(3)]
    done = tried(counting, *chunks, Crop(step), chunks[2], Crop(2 * step), scheme=name, tally=tally)
    assert done.violation is None
    assert counting.crops == {step: 1, 2 * step: 1}
    assert tally.exercised[COMMUTES] == 2


@pytest.mark.parametrize("count", [1, 31, 33, 64, 65, 1000])
def test_no_group_is_cut_and_no_sequence_emptied(count: int, counting: type[Counting]) -> None:
    chunk = Append(Values(tokens=32))
    assert tried(counting, chunk, chunk, Crop(count), scheme="kivi-key").violation is None
    assert not counting.crops


def test_the_search_performs_everything_that_the_rule_speaks_of_and_cuts_no_group() -> None:
    performed: Counter[str] = Counter()
    crops: Counter[tuple[str, int]] = Counter()

    def counted(method: str) -> Any:
        def call(engine: ReferenceQuantizer, *arguments: Any) -> Any:
            performed[method] += 1
            if method == "crop":
                crops[engine.scheme.name, arguments[0] % token_group(engine.scheme)] += 1
            return getattr(ReferenceQuantizer, method)(engine, *arguments)

        return call

    methods = {method: counted(method) for method in ("copy", "rotate", "append", "crop", "reorder", "restart")}
    engine = type("Counted", (ReferenceQuantizer,), {**methods, "capabilities": only(*ONE_OF_EACH_GRANULARITY)})
    report = check_here(as_engine(engine), Plan(examples=400, seconds=300))
    assert not report.findings
    assert not report.fault
    assert all(performed[method] >= 10 for method in methods), performed
    assert set(crops) == {(name, 0) for name in ONE_OF_EACH_GRANULARITY}


def test_tokens_that_are_left_keep_their_scales() -> None:
    """KIVI: 0, 1, .., 15 twice has the minimum 0 and the scale 1, so each number is its own code."""
    engine = ReferenceQuantizer(KIVI)
    steps = np.tile(np.arange(16, dtype=np.float32), 2).reshape(1, 32, 1, 1)
    engine.append(np.concatenate([steps, 10 * steps, 100 * steps], axis=1))
    engine.crop(32)
    assert np.array_equal(engine.contents(), np.concatenate([steps, 10 * steps], axis=1))
    engine.crop(32)
    assert np.array_equal(engine.contents(), steps)


def test_the_reference_refuses_to_cut_a_group() -> None:
    engine = ReferenceQuantizer(KIVI)
    engine.append(np.ones((1, 64, 1, 1), np.float32))
    with pytest.raises(ShapeError, match="kivi-key"):
        engine.crop(1)


class DropsTheFirstScales(ReferenceQuantizer):
    """Codes lose their last tokens, scales their first."""

    def crop(self, count: int) -> None:
        whole = self.held
        super().crop(count)
        for old, new in zip(whole, self.held, strict=True):
            new.scales.scale[:] = old.scales.scale[-len(new.scales.scale) :]


@pytest.mark.parametrize("name", ["int8/token-head", "kivi-key"])
def test_scales_that_are_dropped_at_the_wrong_end_break_the_rule(name: str) -> None:
    step = token_group(SCHEMES[name])
    chunks = [Append(Values("noise", step, exponent=exponent)) for exponent in (0, 4)]
    broken = tried(DropsTheFirstScales, *chunks, Crop(step), scheme=name).violation
    assert broken is not None
    assert broken.rule is COMMUTES
    assert "was left by a crop" in broken.seen


class KeepsScales(ReferenceQuantizer):
    """Scales of tokens that are gone stand where those of the next tokens should."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.stale: Scales | None = None

    def crop(self, count: int) -> None:
        self.stale = Scales(self.held[0].scales.scale[-count:])
        super().crop(count)

    def restart(self) -> None:
        self.stale = self.held[0].scales
        super().restart()

    def append(self, x: Single) -> None:
        old = len(self.held[0].codes) if self.held else 0
        super().append(x)
        for sequence in self.held:
            if self.stale is not None:
                new = sequence.scales.scale[old:]
                new[: len(self.stale.scale)] = self.stale.scale[: len(new)]


@pytest.mark.parametrize("between", [Crop(1), Restart()])
def test_scales_that_outlive_what_they_were_of_break_the_rule_at_the_next_chunk(between: Any) -> None:
    chunks = [Append(Values("noise", 2, exponent=exponent)) for exponent in (0, 4)]
    broken = tried(KeepsScales, chunks[0], between, chunks[1]).violation
    assert broken is not None
    assert broken.rule is COMMUTES


def test_a_scale_frozen_on_the_first_chunk_is_not_blamed_on_what_came_between() -> None:
    class Frozen(ReferenceQuantizer):
        capabilities = only("int8/tensor")

        def append(self, x: Array) -> None:
            if not self.held:
                super().append(x)
                return
            joined = np.concatenate([self.contents(), x], axis=1)
            first = [sequence.scales for sequence in self.held]
            most = [127 * float(scales.scale.max()) for scales in first]
            clipped = [np.clip(row, -m, m).astype(np.float32) for row, m in zip(joined, most, strict=True)]
            self.held = [Encoded(encode(row, self.scheme).codes, s) for row, s in zip(clipped, first, strict=True)]

    chunks = [Append(Values("constant", 2, exponent=exponent)) for exponent in (0, 2)]
    broken = tried(Frozen, chunks[0], Reorder(1), chunks[1], scheme="int8/tensor").violation
    assert broken is not None
    assert broken.rule is SCALE_FROM_VALID_DATA
