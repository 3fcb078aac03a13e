"""The benchmark script without a GPU: its checks and their faults, its problems, its clock, and the page that it fills.

Where it times, a clock that counts calls stands in for the GPU; kernels of others are stood in for by functions with
their documented parameters.
"""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from functools import cache, partial
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from benchmarks import contenders, correctness, ours, problems, run, stored, table, timing
from benchmarks.correctness import checks
from benchmarks.samples import KINDS, TINY, Kind, Sample, Size, sample
from benchmarks.shapes import FORMATS, MANY, STANDARD, Heads, Shape, goal, standard
from benchmarks.timing import Timed
from benchmarks.wrapping import NotThere
from kvoptimized.cascade import cascade
from kvoptimized.decoding import arithmetic as decode_arithmetic
from kvoptimized.decoding import decode
from kvoptimized.merging import merge
from kvoptimized.prefilling import prefill
from kvoptimized.slot_maps import slot_mapping
from kvoptimized.writing import write

SCRIPT = Path(__file__).resolve().parents[2] / "optimized" / "benchmarks" / "run.py"
HEADS = Heads(4, 2, 64)
CPU = torch.device("cpu")
LEVEL_2 = 60 << 20
"""Bytes of a level-2 cache as large as any that is sold."""


@pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU the script times for minutes")
def test_the_script_checks_and_says_that_nothing_can_be_timed() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("There is no GPU here, so nothing can be timed")
    assert len(rest) == len(list(checks(CPU, TINY))) and all(line.startswith("right ") for line in rest)


# Every check fails where it should.


def off(kernel: Callable[..., Any], output: float = 0.0, lse: float = 0.0) -> Callable[..., Any]:
    """A kernel whose answers are off by so much, relative to 1."""

    def wrong(*arguments: Any, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
        right, log = kernel(*arguments, **options)
        return right * (1 + output), log + lse

    return wrong


def without(kernel: Callable[..., Any], option: str) -> Callable[..., Any]:
    """A kernel that ignores an option."""
    return lambda *arguments, **options: kernel(*arguments, **{**options, option: None})


def misplaced(kernel: Callable[..., Any], side: str) -> Callable[..., Any]:
    """A kernel that stores one element of keys or values as something else."""

    def wrong(cache: Any, *arguments: Any) -> None:
        kernel(cache, *arguments)
        codes = getattr(cache, side).view(torch.uint8).view(-1)
        codes[(codes != 0).nonzero()[0]] ^= 1

    return wrong


def padded_with_zero(*arguments: Any, **options: Any) -> torch.Tensor:
    return slot_mapping(*arguments, **options).clamp(min=0)


def keys_only(cache: Any, pairs: torch.Tensor) -> None:
    cache.keys[pairs[:, 1]] = cache.keys[pairs[:, 0]]


def without_prefix(query: torch.Tensor, cache: Any, table: Any, length: int, *plan: Any, **options: Any) -> Any:
    kept = {name: options[name] for name in ("scale", "softcap", "sinks")}
    tables, lengths, starts = plan
    return prefill(query, cache, tables[:, length // 16 :].contiguous(), lengths - length, starts, **kept)


def scaled_scales(cache: Any, *arguments: Any) -> None:
    write(cache, *arguments)
    if cache.dynamic:
        cache.value_scales.mul_(1 + 2.0**-23)


FAULTS: dict[str, tuple[ModuleType, str, Callable[..., Any], str]] = {
    "keys": (stored, "write", misplaced(write, "keys"), "codes and scales"),
    "values": (stored, "write", misplaced(write, "values"), "codes and scales"),
    "scales of values": (stored, "write", scaled_scales, "codes and scales.*scales per token"),
    "slots": (stored, "slot_mapping", padded_with_zero, "slots are"),
    "copies": (stored, "copy_blocks", keys_only, "copied blocks"),
    "prefill": (correctness, "prefill", off(prefill, output=2.0**-6), "prefill (lies|with)"),
    "LSE of prefill": (correctness, "prefill", off(prefill, lse=2.0**-14), "prefill (lies|with)"),
    "decode": (correctness, "decode", off(decode, output=2.0**-6), "decode (lies|with)"),
    "LSE of decode": (correctness, "decode", off(decode, lse=2.0**-14), "decode (lies|with)"),
    **{
        f"{option} of {kernel.__name__}": (
            correctness,
            kernel.__name__,
            without(kernel, option),
            f"{kernel.__name__} with",
        )
        for option in ("window", "softcap", "sinks")
        for name, kernel in (("prefill", prefill), ("decode", decode))
    },
    "cascade": (correctness, "cascade", off(cascade, output=2.0**-5), "cascade"),
    "LSE of a cascade": (correctness, "cascade", off(cascade, lse=2.0**-12), "cascade"),
    "sinks of a cascade": (correctness, "cascade", without(cascade, "sinks"), "cascade of decodes"),
    "prefix": (correctness, "cascade", without_prefix, "cascade"),
    "merge": (correctness, "merge", off(merge, output=2.0**-6), "a merge"),
}


built = cache(sample)


def same_sample(*arguments: Any) -> Sample:
    """A copy of a sample that is built once: no fault is in what builds it."""
    return deepcopy(built(*arguments))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_kernel_is_found_over_every_kind_of_cache(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    where, name, wrong, found_by = FAULTS[fault]
    monkeypatch.setattr(where, name, wrong)
    monkeypatch.setattr(correctness, "sample", same_sample)
    finding = [check for told, check in checks(CPU, TINY) if re.match(found_by, told)]
    assert finding
    assert not any(check() for check in finding)


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[4]], ids=str)
def test_requests_of_several_parts_are_judged_by_the_certificates_of_parts(kind: Kind) -> None:
    size = Size(((600, 1), (300, 2)), 24, 4, 2, 64, 400, 2.0, 272)
    given = sample(CPU, size, kind)
    assert decode_arithmetic(given.query.dtype, given.cache, size.heads).split_tokens == 256
    for dressed in (False, True):
        assert correctness.decoded(given, dressed=dressed)
    assert correctness.cascaded(given, decoding=True)


def test_formats_granularities_and_dtypes_are_all_checked() -> None:
    assert {kind.format for kind in KINDS} == {"bf16", "fp16", "e4m3", "int8", "int4"}
    quantized = {(kind.format, kind.static) for kind in KINDS if kind.format not in ("bf16", "fp16")}
    assert len(quantized) == 6
    assert {kind.dtype for kind in KINDS if kind.static} == {kind.dtype for kind in KINDS if not kind.static}
    names = [name for name, _ in checks(CPU, TINY)]
    assert len(names) == len(set(names))


# Problems.


@pytest.mark.parametrize("requests", [((40, 1),) * 3, ((33, 33),) * 2])
def test_a_contender_computes_what_ours_computes(requests: tuple[tuple[int, int], ...]) -> None:
    operation = "decode" if requests[0][1] == 1 else "prefill"
    problem = problems.build(Shape(operation, "tiny", requests, HEADS), CPU, cold_bytes=0)
    mine, theirs = ours.calls(problem), contenders.sdpa(problem)
    assert len(mine) == len(theirs) == len(problem.batches) == 2
    for own, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own(), other(), rtol=2.0**-6, atol=2.0**-6)


@pytest.mark.parametrize("format", FORMATS)
def test_batches_share_no_block_and_hold_no_nan(format: str) -> None:
    shape = Shape("prefill", "tiny", ((40, 3), (17, 1)), HEADS, format)
    problem = problems.build(shape, CPU, cold_bytes=60_000)
    assert len(problem.batches) * problem.least_bytes >= 4 * 60_000
    used = [batch.tables[r, :count] for batch in problem.batches for r, count in enumerate((3, 2))]
    ids = torch.cat(used)
    assert len(ids) == len(ids.unique()) == problem.cache.num_blocks
    assert torch.isfinite(ours.calls(problem)[0]()).all()


@pytest.mark.parametrize("format", FORMATS)
def test_decodes_behind_a_prefix_equal_plain_ones_over_the_same_tables(format: str) -> None:
    shape = Shape("cascade", "tiny", ((72, 1), (70, 1)), HEADS, format, shared=32)
    problem = problems.build(shape, CPU, cold_bytes=0)
    assert problem.cache.num_blocks == len(problem.batches) * (2 + 3 + 3)
    for own, b in zip(ours.calls(problem), problem.batches, strict=True):
        assert torch.equal(b.tables[0, :2], b.tables[1, :2])
        plain, _ = decode(b.query, problem.cache, b.tables, b.lengths, scale=problem.scale)
        torch.testing.assert_close(own(), plain, rtol=2.0**-6, atol=2.0**-6)


@pytest.mark.parametrize("format", FORMATS)
def test_blocks_are_copied_and_rows_written_where_the_batch_says(format: str) -> None:
    problem = problems.build(Shape("copy", "tiny", ((16, 0),) * 3, HEADS, format), CPU, cold_bytes=0)
    ids = torch.cat([move.pairs.flatten() for move in problem.moves if isinstance(move, problems.Copies)])
    assert len(ids) == len(ids.unique()) == problem.cache.num_blocks == 12
    ours.calls(problem)[1]()
    assert isinstance(problem.moves[1], problems.Copies)
    source, target = problem.moves[1].pairs.T
    assert torch.equal(*(problem.cache.values[which].view(torch.uint8) for which in (source, target)))
    problem = problems.build(Shape("write", "tiny", ((20, 20), (1, 1)), HEADS, format), CPU, cold_bytes=0)
    rows = [move for move in problem.moves if isinstance(move, problems.Rows)]
    slots = torch.cat([move.slots for move in rows])
    assert len(slots) == len(slots.unique()) == 2 * 21
    ours.calls(problem)[0]()
    if format == "bf16":
        assert torch.equal(problem.cache.codes(rows[0].slots)[1], rows[0].values)


def test_batches_of_every_standard_shape_are_cold_in_bounded_memory() -> None:
    shapes = list(standard())
    assert len({(s.operation, s.name, s.heads, s.format) for s in shapes}) == len(shapes) == 68
    for shape in shapes:
        sets, moved = problems.sets_of(shape, LEVEL_2), problems.least_bytes(shape)
        assert sets >= 2 and sets * moved >= 4 * LEVEL_2
        assert sets * moved < 4 * LEVEL_2 + 2 * moved
        token = problems.empty(shape, 1, CPU).bytes_per_token
        assert sets * problems.blocks_of(shape) * 16 * token < 3e9


def test_least_bytes_and_operations() -> None:
    shape = next(standard())
    assert shape.tokens == 8 * 32768 and shape.flops == 4 * 8 * 32768 * 32 * 128
    assert problems.least_bytes(Shape("decode", "", ((32, 1),), HEADS)) == 32 * 512 + 4 * (2 * 64 * 2 + 4) + 4 * 2
    static, dynamic = 2 * 2 * 64, 2 * 2 * 32 + 2 * 2 * 4
    rows = 2 * 2 * 64 * 2 + 8
    assert problems.least_bytes(Shape("write", "", ((5, 5),), HEADS, "e4m3")) == 5 * (rows + static)
    assert problems.least_bytes(Shape("write", "", ((5, 5),), HEADS, "int4")) == 5 * (rows + dynamic)
    assert problems.least_bytes(Shape("copy", "", ((16, 0),) * 3, HEADS, "int4")) == 3 * (2 * 16 * dynamic + 16)
    shared = Shape("cascade", "", ((48, 1), (48, 1)), HEADS, shared=32)
    assert shared.tokens == 64 and shared.pairs == 96
    assert problems.least_bytes(shared) == 64 * 512 + 2 * 4 * (2 * 64 * 2 + 4) + 4 * 4


def test_goals_are_those_of_the_design() -> None:
    found = {(s.name, s.format): goal(s, problems.least_bytes(s)) for s in standard() if s.heads == STANDARD}
    assert found["8x32768", "bf16"] == 275e-6 and found["1x32768", "e4m3"] == 27e-6
    assert found["8x32768", "int4"] == 110e-6 and found["1x1024", "int8"] == 10e-6
    aimed = found[f"{MANY} blocks", "bf16"]
    assert aimed is not None and 2 * MANY * 16 * 4096 / aimed == pytest.approx(3.9e12, rel=1e-3)
    assert found["32x4096", "bf16"] is None and found["64 blocks", "bf16"] is None
    assert all(goal(s, 1) is None for s in standard() if s.heads != STANDARD)


# Kernels of others, by stand-ins with their documented parameters.


def paged(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, tables: Any, lengths: Any, scale: float) -> torch.Tensor:
    """One query row per request over token-major blocks `[num_blocks, block_size, kv_heads, head_dim]`."""
    group = q.shape[1] // k.shape[2]
    outputs = []
    for row, ids, length in zip(q.float(), tables, lengths, strict=True):
        keys, values = (x[ids.long()].float().flatten(0, 1)[:length].repeat_interleave(group, 1) for x in (k, v))
        weights = torch.softmax(torch.einsum("hd,thd->ht", row, keys) * scale, -1)
        outputs.append(torch.einsum("ht,thd->hd", weights, values))
    return torch.stack(outputs).to(torch.bfloat16)


def unscaled(x: torch.Tensor, descale: torch.Tensor | None) -> torch.Tensor:
    return x.float() if descale is None else x.float() * float(descale.flatten()[0])


def flash_attn_with_kvcache(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    *,
    cache_seqlens: torch.Tensor,
    page_table: torch.Tensor,
    softmax_scale: float,
    causal: bool,
    q_descale: torch.Tensor | None = None,
    k_descale: torch.Tensor | None = None,
    v_descale: torch.Tensor | None = None,
) -> torch.Tensor:
    assert causal and q.dtype == k_cache.dtype and q.shape[1] == 1
    k, v = unscaled(k_cache, k_descale), unscaled(v_cache, v_descale)
    return paged(unscaled(q[:, 0], q_descale), k, v, page_table, cache_seqlens, softmax_scale)[:, None]


def flash_attn_varlen_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    max_seqlen_q: int,
    cu_seqlens_q: torch.Tensor,
    max_seqlen_k: int,
    seqused_k: torch.Tensor,
    softmax_scale: float,
    causal: bool,
    block_table: torch.Tensor,
    q_descale: torch.Tensor | None = None,
    k_descale: torch.Tensor | None = None,
    v_descale: torch.Tensor | None = None,
    fa_version: int = 2,
) -> torch.Tensor:
    assert causal and q.dtype == k.dtype and (q.dtype == torch.bfloat16) == (fa_version == 2)
    assert max_seqlen_q == 1 and len(cu_seqlens_q) == len(seqused_k) + 1 and max_seqlen_k == int(seqused_k.max())
    k, v = unscaled(k, k_descale), unscaled(v, v_descale)
    return paged(unscaled(q, q_descale), k, v, block_table, seqused_k, softmax_scale)


def unified_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    max_seqlen_q: int,
    seqused_k: torch.Tensor,
    max_seqlen_k: int,
    softmax_scale: float,
    causal: bool,
    window_size: tuple[int, int],
    block_table: torch.Tensor,
    softcap: float,
    q_descale: None,
    k_descale: torch.Tensor | None,
    v_descale: torch.Tensor | None,
    kv_quant_mode: str = "NONE",
    k_scale_cache: torch.Tensor | None = None,
    v_scale_cache: torch.Tensor | None = None,
) -> None:
    assert causal and q_descale is None and max_seqlen_q == 1 and max_seqlen_k == int(seqused_k.max())
    k, v = unscaled(k, k_descale), unscaled(v, v_descale)
    if k_scale_cache is not None and v_scale_cache is not None:
        assert kv_quant_mode == "int8" and k_scale_cache.shape == k.shape[:3]
        k, v = k * k_scale_cache[..., None], v * v_scale_cache[..., None]
    out.copy_(paged(q, k, v, block_table, seqused_k, softmax_scale))


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    modes = type("KVQuantMode", (), {"FP8_PER_TENSOR": "fp8", "INT8_PER_TOKEN_HEAD": "int8"})
    given = {
        "flash_attn_interface": {"flash_attn_with_kvcache": flash_attn_with_kvcache},
        "vllm.vllm_flash_attn": {"flash_attn_varlen_func": flash_attn_varlen_func},
        "vllm.v1.attention.ops.triton_unified_attention": {"unified_attention": unified_attention},
        "vllm.v1.kv_cache_interface": {"KVQuantMode": modes},
    }
    for name, contents in given.items():
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("FlashAttention", "bf16"),
        ("FlashAttention", "e4m3"),
        ("vLLM flash", "bf16"),
        ("vLLM flash", "e4m3"),
        ("vLLM Triton", "bf16"),
        ("vLLM Triton", "e4m3"),
        ("vLLM Triton", "int8"),
    ],
)
def test_a_library_is_called_as_its_documentation_says(
    monkeypatch: pytest.MonkeyPatch, clock: None, name: str, format: str
) -> None:
    problem = problems.build(Shape("decode", "tiny", ((40, 1), (17, 1)), HEADS, format), CPU, cold_bytes=0)
    monkeypatch.setattr(contenders, "CONTENDERS", {name: contenders.CONTENDERS[name]})
    assert isinstance(run.measure(problem).others[name], Timed)


def test_a_contender_that_is_not_there_says_why() -> None:
    problem = problems.build(Shape("decode", "tiny", ((40, 1),), HEADS, "int4"), CPU, cold_bytes=0)
    for make in contenders.CONTENDERS.values():
        with pytest.raises(NotThere):
            make(problem)


# The clock, by one that says 6 ms for each rotation.


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def do_bench_cudagraph(fn: Callable[[], object], rep: int, return_mode: str) -> float:
        assert return_mode == "median" and rep > 0 and not gc.isenabled()
        fn()
        return 6.0

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA stand-in")
    monkeypatch.setattr(timing.testing, "do_bench_cudagraph", do_bench_cudagraph)


@pytest.mark.usefixtures("clock")
def test_a_rotation_makes_every_call_once_and_its_time_is_divided_among_them() -> None:
    made: list[int] = []
    assert timing.seconds_per_call([partial(made.append, i) for i in range(3)]) == Timed(2e-3)
    assert made == [0, 1, 2] and gc.isenabled()


@pytest.mark.usefixtures("clock")
def test_a_call_that_cannot_be_captured_is_timed_without_a_graph_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def refuse(*_: object, **__: object) -> float:
        raise RuntimeError("operation not permitted when stream is capturing")

    def do_bench(fn: Callable[[], object], return_mode: str) -> float:
        for _ in range(3):
            fn()
        return 5.0

    monkeypatch.setattr(timing.testing, "do_bench_cudagraph", refuse)
    monkeypatch.setattr(timing.testing, "do_bench", do_bench)
    found = timing.seconds_per_call([partial(made.append, i) for i in range(2)])
    assert found == Timed(5e-3, graph=False) and str(found) == "5000.0, no graph"
    assert made == [0, 1, 0] and gc.isenabled()


def test_the_installed_triton_has_the_benchmarks_that_are_called() -> None:
    signature(timing.testing.do_bench_cudagraph).bind(print, rep=1, return_mode="median")
    signature(timing.testing.do_bench).bind(print, return_mode="median")


# The table and its page.

TINIES = (Shape("decode", "tiny", ((40, 1),), HEADS), Shape("copy", "tiny", ((16, 0),), HEADS, "int8"))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, clock: None) -> Path:
    """A copy of the page, and a run of two small shapes that would fill it."""
    copy = tmp_path / "RESULTS.md"
    copy.write_text(table.RESULTS.read_text("utf-8"))
    monkeypatch.setattr(table.save, "__defaults__", (copy,))
    monkeypatch.setattr(run, "standard", lambda: iter(TINIES))
    monkeypatch.setattr(contenders, "CONTENDERS", {"torch SDPA": contenders.sdpa})
    monkeypatch.setattr(timing, "cold_bytes", lambda _: 0)
    monkeypatch.setattr(timing, "copy_bandwidth", lambda _: 4e12)
    return copy


def timed(minutes: float = 1.0) -> bool:
    return run.timed(CPU, time.monotonic() + 60 * minutes, "", save=True)


def says_what_was_timed(text: str) -> bool:
    """Whether a page holds either a measured table with date, card and versions, or the sentence that nothing was."""
    begin, end = text.index(table.BEGIN) + len(table.BEGIN), text.index(table.END)
    between, outside = text[begin:end].strip(), text[:begin] + text[end:]
    nothing = between.startswith(table.NOTHING)
    head, *lines = between.splitlines()
    measured = re.match(r"\d{4}-\d\d-\d\d, \w.*, Python [\d.]+, torch [\d.]+\S*, triton [\d.]+", head)
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| shape ")]
    return table.NOTHING not in outside and nothing != bool(measured and rows) and between.count(table.NOTHING) < 2


def test_the_page_holds_either_a_measured_table_or_the_sentence_that_nothing_was_timed() -> None:
    assert says_what_was_timed(table.RESULTS.read_text("utf-8"))
    assert not says_what_was_timed(f"{table.BEGIN}\n{table.END}".replace("\n", "\nnothing\n"))
    assert not says_what_was_timed(f"{table.NOTHING}{table.BEGIN}\n{table.NOTHING}\n{table.END}")


def test_rows_are_kept_between_the_marks(page: Path) -> None:
    assert timed()
    text = page.read_text(encoding="utf-8")
    assert says_what_was_timed(text) and table.NOTHING not in text
    assert "NVIDIA stand-in" in text and text.count("| decode tiny |") == text.count("| copy tiny |") == 1
    assert "shapes were left out" not in text


def test_a_row_that_fails_says_so_and_costs_no_other(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scarce(shape: Shape, *_: object) -> problems.Problem:
        if shape.operation == "decode":
            assert table.NOTHING in page.read_text(encoding="utf-8")
            raise torch.cuda.OutOfMemoryError("too little")
        assert "1 shapes were left out" in page.read_text(encoding="utf-8")
        return problems.build(shape, CPU, 0)

    monkeypatch.setattr(run, "build", scarce)
    assert not timed()
    assert "| decode tiny | 4/2 d64 | bf16 | failed: OutOfMemoryError |" in page.read_text(encoding="utf-8")
    assert re.search(r"\| copy tiny \| 4/2 d64 \| int8 \| \d", page.read_text(encoding="utf-8"))


def test_a_fault_of_a_stranger_is_a_cell_and_one_that_takes_the_device_ends_the_run(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(_: problems.Problem) -> ours.Calls:
        raise RuntimeError("illegal memory access")

    monkeypatch.setattr(contenders, "CONTENDERS", {"stranger": faulty})
    assert timed()
    assert "| failed: RuntimeError |" in page.read_text(encoding="utf-8")
    monkeypatch.setattr(run, "answers", lambda: False)
    assert not timed()
    assert "1 shapes were left out" in page.read_text(encoding="utf-8") and "copy tiny" not in page.read_text(
        encoding="utf-8"
    )


def test_without_time_shapes_are_left_out(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert timed(minutes=-1)
    assert "2 shapes were left out" in capsys.readouterr().out
    assert table.NOTHING in page.read_text(encoding="utf-8")


def test_a_failure_is_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "right", lambda _: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for good in (True, False):
        monkeypatch.setattr(run, "timed", lambda *_, good=good, **__: good)
        assert run.main([]) == (0 if good else 1)


def test_cells_are_times_and_ratios() -> None:
    measured = table.Measured(next(standard()), Timed(250e-6), {"A": Timed(300e-6, graph=False), "B": "not installed"})
    least = problems.least_bytes(measured.shape)
    cells = measured.cells(bandwidth=least / 250e-6)
    assert cells[3] == "250.0" and cells[5] == "1.00" and cells[7] == "275.0 (0.91x)"
    assert cells[8:] == ["300.0, no graph (1.20x)", "not installed"]
