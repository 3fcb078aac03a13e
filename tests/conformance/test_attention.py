"""The surface Attention: honest kernels pass, faulty ones are killed, drift is not reported, bad input is named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from kvconformance.adapters import NotAnAdapter, as_engine, load
from kvconformance.engines.reference_attention import ReferenceAttention
from kvconformance.history import History
from kvconformance.imposters import kernels
from kvconformance.imposters.controls import CONTROLS
from kvconformance.search.check import check_here, replay
from kvconformance.search.examples import Plan
from kvconformance.search.supervise import check_supervised
from kvconformance.surfaces import Engine
from kvconformance.surfaces.attention import (
    SURFACE,
    Attended,
    AttentionCall,
    AttentionCapabilities,
    attention,
    loaded,
    stored,
)
from kvconformance.surfaces.attention.judging.certified import Parts, allowed, merged
from kvconformance.surfaces.attention.operations import Attend, Merge, WriteRows
from kvconformance.surfaces.attention.probes import PROBES
from kvconformance.surfaces.attention.problems.numbers import problem_of
from kvconformance.surfaces.attention.problems.placements import Placement, place
from kvconformance.telling.report import Report
from kvreference.tolerance.declaration import Declaration
from kvspec import RULES
from kvspec.refusals import BlockRangeError, DtypeError, ShapeError, ShortTableError
from kvspec.vocabulary import Capabilities, Surface, World

ROOT = Path(__file__).parents[2]
ENFORCED = [rule for rule in RULES.values() if rule.id.startswith("kernel/")] + [RULES["num/declared-tolerance"]]


def check(kernel: object, examples: int, seed: int = 0) -> Report:
    return check_here(as_engine(kernel, "kernel"), Plan(examples=examples, seed=seed, seconds=300, shrink_seconds=0.5))


def judged(kernel: object, *operations: Attend, blocks: int = 40, size: int = 4) -> list[str]:
    """The ids of the rules that one history breaks."""
    engine = Engine("kernel", "0", {Surface.ATTENTION: kernel})  # type: ignore[dict-item]
    result = replay(engine, Surface.ATTENTION, History(blocks, size, operations), Plan(), "kernel")
    assert not result.fault
    return [finding.rule_id for finding in result.findings]


def test_every_kernel_rule_is_enforced() -> None:
    assert [rule.checked for rule in ENFORCED] == ["conformance"] * 9


def test_the_reference_holds_every_rule() -> None:
    report = check(ReferenceAttention, 120)
    assert not report.findings and not report.fault
    counts = {line.rule.id: line.exercised for line in report.rules}
    assert all(counts[rule.id] for rule in ENFORCED), counts


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.report)
def test_drift_of_the_order_of_additions_is_not_reported(control: type[ReferenceAttention]) -> None:
    report = check(control, 60)
    assert [finding.text() for finding in report.findings] == []
    assert not report.fault


def test_the_controls_do_drift() -> None:
    """Each gives some row other bits in chunks, or the test above would show nothing."""
    world, drifting = World(40, 4), set()
    for seed in range(6):
        problem = problem_of(Attend(((40, 40),), seed=seed, pattern="peaked"), 4)
        placement = Placement(40, 4)
        for control in CONTROLS:
            kernel = control(world)
            together = kernel.attend(place(problem, placement)).output
            parts = [problem.chunk(row, row + 1) for row in range(40)]
            apart = np.concatenate([kernel.attend(place(part, placement)).output for part in parts])
            if (together != apart).any():
                drifting.add(control.report)
    assert drifting == {"B226", "B227", "B228", "B229"}


def test_torch_sdpa_is_not_accused() -> None:
    pytest.importorskip("torch")
    report = check_here(load("torch-sdpa"), Plan(examples=60))
    assert [finding.text() for finding in report.findings] == []
    assert not report.fault


WINDOW = {"window": 4, "dtype": "bf16"}
KILLS: list[tuple[str, tuple[Attend | Merge | WriteRows, ...]]] = [
    ("GatherOffsetIn32Bits", (Attend(((5, 1),), "far"),)),
    ("PaddedStrideWraps", (Attend(((5, 1),), "far", seed=1),)),
    ("NeighbourBlocks", (Attend(((9, 1),), order=3),)),
    ("PrefillWithoutTable", (Attend(((9, 2),), order=3),)),
    ("BlockRatioTwice", (Attend(((3, 1),), order=3),)),
    ("AxesGuessedFromShape", (Attend(((9, 1),), heads=(4, 4, 8), layout="head-major"),)),
    ("ValuesBehindWindowRead", (Attend(((9, 1),), "poison", **WINDOW),)),
    ("TailOfLastBlockRead", (Attend(((9, 1),), "poison"),)),
    ("RecycledBlockMultiplied", (Attend(((9, 1),), "poison"),)),
    ("OtherSequencesSeen", (Attend(((9, 1), (9, 1))),)),
    ("PadSlotWraps", (WriteRows((3, -1, 7)),)),
    ("RowCountFromKeys", (WriteRows((3, 7), extra=2),)),
    ("MetadataOfRealRowsOnly", (Attend(((9, 1),), padding=2),)),
    ("EmptyRowsNotSet", (Attend(((0, 1), (9, 1))),)),
    ("EmptyRowsNotSetInBatch", (Attend(((0, 1), (9, 1))),)),
    ("MaskedRowsHaveFiniteLse", (Attend(((1, 3),)),)),
    ("EmptyLseIsPositive", (Attend(((0, 1),)),)),
    ("TwoEmptyStatesGiveNan", (Merge((("empty", "empty"),)),)),
    ("EarlyExitWritesElsewhere", (Attend(((3, 1), (0, 1), (9, 3))),)),
    ("LseLostInSplits", (Attend(((9, 1),), splits=2),)),
    ("SuffixReadWithPrefixStrides", (Merge((("normal", "normal"),), heads=(2, 8)),)),
    ("FirstPrefixForAll", (Attend(((9, 1), (9, 1), (9, 1)), shared=1),)),
    ("ChunkIgnoresContext", (Attend(((9, 3),)),)),
    ("CachedPositionsNotWritten", (Attend(((9, 3),)),)),
    ("WindowRelativeToChunk", (Attend(((9, 3),), **WINDOW),)),
    ("PrefixKernelWithoutWindow", (Attend(((9, 3),), **WINDOW),)),
    ("WindowOneWider", (Attend(((9, 3),), **WINDOW),)),
    ("WindowAtEquality", (Attend(((4, 1),), **WINDOW),)),
    ("StaleLengths", (Attend(((9, 1),), "again"),)),
    ("CachedMaskChanged", (Attend(((9, 3),), **WINDOW), Attend(((9, 3),), **WINDOW))),
]


def test_every_imposter_of_kernels_has_a_history_that_kills_it() -> None:
    faulty = {name for name, thing in vars(kernels).items() if isinstance(thing, type) and "bug" in vars(thing)}
    assert faulty == {name for name, _ in KILLS}


@pytest.mark.parametrize(("name", "operations"), KILLS, ids=[name for name, _ in KILLS])
def test_an_imposter_is_killed_by_its_rule_and_the_reference_lives(name: str, operations: tuple[Attend, ...]) -> None:
    imposter = getattr(kernels, name)
    assert judged(imposter, *operations) == [imposter.broken_rule.id]
    assert judged(ReferenceAttention, *operations) == []


@pytest.mark.parametrize(
    "name", ["NeighbourBlocks", "EmptyRowsNotSet", "WindowOneWider", "SuffixReadWithPrefixStrides"]
)
def test_the_search_finds_an_imposter(name: str) -> None:
    imposter = getattr(kernels, name)
    assert imposter.broken_rule in [finding.rule for finding in check(imposter, 80).findings]


class Dropping(ReferenceAttention):
    """Never sees the newest but one token."""

    def attend(self, call: AttentionCall) -> Attended:
        lengths = np.where(call.lengths > 4, call.lengths - 1, call.lengths)
        return super().attend(replace(call, lengths=lengths, causal=False))


def test_a_dropped_token_is_outside_of_the_declared_tolerance() -> None:
    assert judged(Dropping, Attend(((17, 1),), dtype="bf16")) == ["num/declared-tolerance"]


class Clamping(ReferenceAttention):
    """Clamps the caller's lengths in place."""

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        call.lengths[call.lengths == 0] = 1
        return answer


def test_inputs_stay_as_they_were() -> None:
    assert judged(Clamping, Attend(((0, 1),))) == ["kernel/fresh-metadata"]


class Dying(ReferenceAttention):
    """Ends the process where offsets pass 32 bits, as an illegal access does."""

    def attend(self, call: AttentionCall) -> Attended:
        if len(call.tables) and int(call.tables.max()) * (call.keys.strides[0] // call.keys.itemsize) >= 1 << 31:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().attend(call)


def test_a_kernel_that_dies_of_huge_block_ids_is_a_finding() -> None:
    history = History(4, 4, (Attend(((5, 1),)), Attend(((5, 1),), "far")))
    report = check_supervised(lambda: as_engine(Dying, "dying"), Plan(), history=history)
    (found,) = report.findings
    assert found.rule_id == "kernel/address-range"
    assert "SIGSEGV" in found.seen


class Trembling(ReferenceAttention):
    """Gives other bits at every call, within an ulp."""

    capabilities = replace(
        ReferenceAttention.capabilities,
        arithmetic=MappingProxyType({"fp32": Declaration("fp32", None, exact_products=False)}),
        batch_invariant=False,
        splits=(1,),
    )
    rng = np.random.default_rng(0)

    def attend(self, call: AttentionCall) -> Attended:
        answer = super().attend(call)
        output = answer.output.astype(np.float32)
        up = np.nextafter(output, np.float32(np.inf), dtype=np.float32)
        return Attended(np.where((self.rng.random(output.shape) < 0.5) & (output != 0), up, output), answer.lse)


def test_a_kernel_that_varies_from_call_to_call_is_judged_by_certificates_alone() -> None:
    report = check(Trembling, 60)
    assert [finding.text() for finding in report.findings] == []


class Raising(ReferenceAttention):
    """Refuses block ids beyond 32 bits of offset."""

    def attend(self, call: AttentionCall) -> Attended:
        if int(call.tables.max(initial=0)) * (call.keys.strides[0] // call.keys.itemsize) >= 1 << 31:
            raise OverflowError("offsets are 32-bit")
        return super().attend(call)


def test_huge_block_ids_may_be_refused() -> None:
    assert judged(Raising, Attend(((5, 1),), "far"), Attend(((5, 1),), "far", seed=1)) == []


def test_a_function_and_a_declaration_make_an_adapter_judged_by_t1() -> None:
    honest = ReferenceAttention(World(8, 4))
    kernel = attention(AttentionCapabilities(block_sizes=(2, 4), lse=True))(honest.attend)
    report = check(kernel, 40)
    assert not report.findings and not report.fault
    assert "does not declare" in next(line.why for line in report.rules if line.rule.id == "kernel/address-range")


def test_adapters_without_a_kernels_declaration_are_named() -> None:
    class Half(ReferenceAttention):
        capabilities = Capabilities()  # type: ignore[assignment]

    with pytest.raises(NotAnAdapter, match="a kernel declares AttentionCapabilities"):
        as_engine(Half)


def test_an_answer_of_another_shape_is_the_adapters_fault() -> None:
    class Flat(ReferenceAttention):
        def attend(self, call: AttentionCall) -> Attended:
            return Attended(super().attend(call).output.reshape(-1))

    assert "for queries" in check(Flat, 5).fault


# Numbers.


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_storage_keeps_what_the_dtype_can_hold(dtype: str) -> None:
    x = np.array([0.0, -0.0, 1.0, -2.5, 2.0**-14, np.inf, -np.inf, np.nan])
    assert np.array_equal(loaded(stored(x, dtype), dtype), x, equal_nan=True)
    rounded = loaded(stored(np.random.default_rng(0).standard_normal(1000), dtype), dtype)
    assert np.array_equal(loaded(stored(rounded, dtype), dtype), rounded)


def test_storage_of_another_dtype_is_refused() -> None:
    with pytest.raises(DtypeError, match="storage of bf16"):
        loaded(np.zeros(2, np.float32), "bf16")
    with pytest.raises(DtypeError, match="no storage for dtype 'int4'"):
        stored(np.zeros(2), "int4")


def _forms(a: np.ndarray, b: np.ndarray, left: np.ndarray, right: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    top = np.maximum(left, right)
    p, q = np.exp(left - top)[..., None], np.exp(right - top)[..., None]
    lse = top + np.log((p + q)[..., 0])
    p2, q2 = np.exp(left - lse)[..., None], np.exp(right - lse)[..., None]
    w = (np.float32(1) / (np.float32(1) + np.exp(left - right)))[..., None]
    return [((p * a + q * b) / (p + q), lse), (p2 * a + q2 * b, lse), (a + w * (b - a), lse)]


def test_no_float32_merge_in_the_three_forms_leaves_its_interval() -> None:
    rng, declaration = np.random.default_rng(1), Declaration("fp32", None)
    for size in (0.0, 1.0, 30.0, 80.0):
        a, b = rng.standard_normal((2, 500, 2, 16)).astype(np.float32) * np.float32(10) ** rng.integers(-3, 3)
        left, right = (rng.standard_normal((500, 2)).astype(np.float32) * np.float32(size) for _ in range(2))
        parts = Parts((a.astype(float), b.astype(float)), (left.astype(float), right.astype(float)))
        bounds = merged(parts, declaration, 2.0**-24)
        with np.errstate(over="ignore"):
            for output, lse in _forms(a, b, left, right):
                assert ((output >= bounds.low) & (output <= bounds.high)).all()
                assert ((lse >= bounds.lse_low) & (lse <= bounds.lse_high)).all()


def test_no_float32_lse_leaves_its_interval() -> None:
    for seed in range(40):
        pattern = ("normal", "outlier", "peaked")[seed % 3]
        problem = problem_of(Attend(((1 + 7 * seed, 1),), seed=seed, heads=(2, 2, 64), pattern=pattern), 4)
        bounds = allowed(problem, Declaration("fp32", None, exact_products=False), 2.0**-24)
        for head, row in enumerate(problem.row_list()[0]):
            z = (row.keys.astype(np.float32) @ row.query.astype(np.float32)) * np.float32(row.scale)
            lse = z.max() + np.log(np.exp(z - z.max()).sum(dtype=np.float32))
            assert bounds.lse_low[0, head] <= lse <= bounds.lse_high[0, head]
            assert bounds.lse_high[0, head] - bounds.lse_low[0, head] < 1e-3


# Bad input.


def _call(**changes: object) -> AttentionCall:
    problem = problem_of(Attend(((9, 2), (3, 1)), heads=(2, 1, 8)), 4)
    return replace(place(problem, Placement(8, 4)), **changes)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"query": np.zeros((3, 2), np.float32)}, ShapeError, "query has shape"),
        ({"query": np.zeros((3, 2, 8), np.float16)}, DtypeError, "storage of fp32"),
        ({"tables": np.array([[0, 99, 1, 2], [3, 0, 0, 0]])}, BlockRangeError, "block 99"),
        ({"tables": np.array([[0, -1, 1, 2], [3, 0, 0, 0]])}, BlockRangeError, "block -1"),
        ({"tables": np.array([[0, 1], [3, 0]])}, ShortTableError, "table of 2 blocks"),
        ({"tables": np.zeros((2, 4))}, DtypeError, "tables has dtype float64"),
        ({"lengths": np.array([9])}, ShapeError, "tables"),
        ({"starts": np.array([0, 2])}, ShapeError, "starts"),
        ({"starts": np.array([0, 2, 9])}, ShapeError, "query has shape"),
    ],
)
def test_bad_input_is_refused_by_name(changes: dict[str, object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        ReferenceAttention(World(8, 4)).attend(_call(**changes))


def test_a_write_with_bad_slots_writes_nothing() -> None:
    call = _call()
    before = call.keys.copy()
    rows = np.ones((2, 1, 8), np.float32)
    with pytest.raises(BlockRangeError, match="slot 999"):
        ReferenceAttention(World(8, 4)).write(call, np.array([0, 999]), rows, rows)
    assert np.array_equal(call.keys, before)


def test_a_pool_too_small_is_named() -> None:
    with pytest.raises(BlockRangeError, match="3 blocks are needed, the pool has 2"):
        place(problem_of(Attend(((9, 1),)), 4), Placement(2, 4))


# Histories and the command line.


def test_every_probe_of_a_history_is_known_and_the_other_way_round() -> None:
    for probe in PROBES:
        history = History(9, 4, (Attend(((5, 2),), probe),))
        assert SURFACE.read(history.to_json()) == history


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        ({"type": "Attend", "lengths": [[5, 1]], "probe": "no"}, "probe"),
        ({"type": "Attend", "lengths": [[5, -1]]}, "lengths"),
        ({"type": "Attend", "lengths": [[5, 1]], "dtype": "int4"}, "dtype"),
        ({"type": "Attend", "lengths": [[5, 1]], "window": 0}, "window"),
        ({"type": "WriteRows", "slots": [-2]}, "slots"),
        ({"type": "Merge", "states": [["full", "empty"]]}, "states"),
    ],
)
def test_a_bad_operation_says_where(operation: dict[str, object], says: str) -> None:
    text = json.dumps({"num_blocks": 4, "block_size": 4, "operations": [operation]})
    with pytest.raises(ValueError, match=f"not a history.*{says}"):
        SURFACE.read(text)


def kvspec(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kvconformance.cli", *arguments]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_a_finding_tells_the_recipe_and_the_interval_and_its_rerun_works() -> None:
    name = "kvconformance.imposters.kernels:WindowOneWider"
    history = History(40, 4, (Attend(((9, 3),), window=4),)).to_json().decode()
    done = kvspec("check", name, "--surface", "attention", "--history", history)
    assert done.returncode == 1, done.stderr
    for text in (
        "✗ kernel/exact-mask",
        "lengths=((9, 3),)",
        "row 0 head 0 element",
        "between",
        "position 6 of 9",
        "rerun",
    ):
        assert text in done.stdout, done.stdout
    assert kvspec("check", "reference", "--surface", "attention", "--history", history).returncode == 0
