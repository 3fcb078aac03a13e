"""The kernels that are timed: ours, and those of others where they are installed.

A contender makes the calls of a problem, one for each of its batches, or raises `NotThere` with the reason. None of
them may wait for the device in a call, since calls are captured in CUDA graphs. The calls of others follow their
documentation; whether they compute the same is checked before they are timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import torch

from benchmarks.problems import STATIC_SCALE, Batch, Problem
from benchmarks.shapes import BLOCK_SIZE
from kvoptimized.cache import HEAD_MAJOR
from kvoptimized.decoding import decode
from kvoptimized.prefilling import prefill

Calls = Sequence[Callable[[], torch.Tensor]]
WORKSPACE = 128 << 20


class NotThere(Exception):
    """Not installed, or it has no such operation; the message says which."""


def ours(problem: Problem) -> Calls:
    """Split-KV decode or chunked prefill; tables are right as they were built, and are not looked at again."""
    cache, scale = problem.cache, problem.scale

    def call(b: Batch) -> torch.Tensor:
        if problem.shape.operation == "decode":
            return decode(b.query, cache, b.tables, b.lengths, scale=scale, checked=False)[0]
        return prefill(b.query, cache, b.tables, b.lengths, b.starts, scale=scale, checked=False)[0]

    return [partial(call, batch) for batch in problem.batches]


def sdpa(problem: Problem) -> Calls:
    """Attention of torch over gathered, contiguous keys and values: no blocks, no tables, equal lengths."""
    _require(problem.shape.format == "bf16", "no quantized cache")
    _require(len(set(problem.shape.requests)) == 1, "requests of one length only")
    count = len(problem.shape.requests)
    tokens, rows = problem.shape.requests[0]
    _require(rows in (1, tokens), "decodes or whole prompts only")
    attend = torch.nn.functional.scaled_dot_product_attention

    def call(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        output = attend(query, keys, values, scale=problem.scale, is_causal=rows > 1, enable_gqa=True)
        return output.transpose(1, 2).flatten(0, 1)

    calls = []
    for batch in problem.batches:
        query = batch.query.unflatten(0, (count, rows)).transpose(1, 2).contiguous()
        pages = (problem.cache.keys, problem.cache.values)
        calls.append(partial(call, query, *(_gathered(page, batch, tokens) for page in pages)))
    return calls


def _gathered(pages: torch.Tensor, batch: Batch, tokens: int) -> torch.Tensor:
    """Keys or values `[requests, kv_heads, tokens, head_dim]` of head-major blocks."""
    blocks = pages[batch.tables.long()]
    return blocks.transpose(1, 2).flatten(2, 3)[:, :, :tokens].contiguous()


def flashinfer(problem: Problem) -> Calls:
    """FlashInfer over the same head-major blocks; plans are made beforehand."""
    library = _imported("flashinfer")
    shape, cache = problem.shape, problem.cache
    _require(shape.format in ("bf16", "e4m3") and not cache.dynamic, "bf16, or fp8 with static scales")
    heads, calls = shape.heads, []
    types = {"q_data_type": torch.bfloat16, "kv_data_type": cache.keys.dtype, "sm_scale": problem.scale}
    scales = {"k_scale": STATIC_SCALE, "v_scale": STATIC_SCALE} if cache.static else {}
    for batch in problem.batches:
        workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device=cache.device)
        counts = (batch.lengths + BLOCK_SIZE - 1) // BLOCK_SIZE
        pages = torch.cat([batch.lengths.new_zeros(1), counts.cumsum(0).to(torch.int32)])
        ids = torch.cat([table[:count] for table, count in zip(batch.tables, counts.tolist(), strict=True)])
        last = (batch.lengths - 1) % BLOCK_SIZE + 1
        if shape.operation == "decode":
            wrapper = library.BatchDecodeWithPagedKVCacheWrapper(workspace, "HND", use_tensor_cores=True)
            wrapper.plan(pages, ids, last, heads.query, heads.kv, heads.dim, BLOCK_SIZE, **types)
        else:
            wrapper = library.BatchPrefillWithPagedKVCacheWrapper(workspace, "HND")
            wrapper.plan(
                batch.starts, pages, ids, last, heads.query, heads.kv, heads.dim, BLOCK_SIZE, causal=True, **types
            )
        calls.append(partial(wrapper.run, batch.query, (cache.keys, cache.values), **scales))
    return calls


def flash_attention(problem: Problem) -> Calls:
    """FlashAttention 3 where it is installed, else 2, over blocks seen as token-major."""
    _require(problem.shape.format == "bf16" and problem.shape.operation == "decode", "bf16 decode only")
    keys, values = (_token_major(problem, pages) for pages in (problem.cache.keys, problem.cache.values))
    try:
        attend, table = _imported("flash_attn_interface").flash_attn_with_kvcache, "page_table"
    except NotThere:
        attend, table = _imported("flash_attn").flash_attn_with_kvcache, "block_table"

    def call(b: Batch) -> torch.Tensor:
        options = {"cache_seqlens": b.lengths, "softmax_scale": problem.scale, "causal": True, table: b.tables}
        output: torch.Tensor = attend(b.query[:, None], keys, values, **options)[:, 0]
        return output

    return [partial(call, batch) for batch in problem.batches]


def vllm_flash(problem: Problem) -> Calls:
    """The FlashAttention that vLLM builds and calls."""
    _require(problem.shape.format == "bf16", "bf16 only")
    attend = _imported("vllm.vllm_flash_attn").flash_attn_varlen_func
    keys, values = (_token_major(problem, pages) for pages in (problem.cache.keys, problem.cache.values))
    longest, most = _maxima(problem)

    def call(b: Batch) -> torch.Tensor:
        output: torch.Tensor = attend(
            q=b.query,
            k=keys,
            v=values,
            max_seqlen_q=most,
            cu_seqlens_q=b.starts,
            max_seqlen_k=longest,
            seqused_k=b.lengths,
            softmax_scale=problem.scale,
            causal=True,
            block_table=b.tables,
        )
        return output

    return [partial(call, batch) for batch in problem.batches]


def vllm_triton(problem: Problem) -> Calls:
    """The Triton kernel of vLLM for mixed batches."""
    _require(problem.shape.format == "bf16", "bf16 only")
    attend = _imported("vllm.v1.attention.ops.triton_unified_attention").unified_attention
    keys, values = (_token_major(problem, pages) for pages in (problem.cache.keys, problem.cache.values))
    longest, most = _maxima(problem)

    def call(batch: Batch, output: torch.Tensor) -> torch.Tensor:
        attend(
            q=batch.query,
            k=keys,
            v=values,
            out=output,
            cu_seqlens_q=batch.starts,
            max_seqlen_q=most,
            seqused_k=batch.lengths,
            max_seqlen_k=longest,
            softmax_scale=problem.scale,
            causal=True,
            window_size=(-1, -1),
            block_table=batch.tables,
            softcap=0,
            q_descale=None,
            k_descale=None,
            v_descale=None,
        )
        return output

    outputs = [torch.empty_like(batch.query) for batch in problem.batches]
    return [partial(call, b, output) for b, output in zip(problem.batches, outputs, strict=True)]


def _token_major(problem: Problem, pages: torch.Tensor) -> torch.Tensor:
    """Others take `[num_blocks, block_size, kv_heads, head_dim]`, dense: for them blocks are stored once more."""
    return pages.transpose(1, 2).contiguous() if problem.cache.layout == HEAD_MAJOR else pages


def _maxima(problem: Problem) -> tuple[int, int]:
    return max(tokens for tokens, _ in problem.shape.requests), max(rows for _, rows in problem.shape.requests)


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except Exception as error:  # a package for another version fails in its own ways
        raise NotThere(f"not installed ({type(error).__name__})") from error


def _require(possible: bool, why: str) -> None:
    if not possible:
        raise NotThere(why)


CONTENDERS: dict[str, Callable[[Problem], Calls]] = {
    "torch SDPA": sdpa,
    "FlashInfer": flashinfer,
    "FlashAttention": flash_attention,
    "vLLM flash": vllm_flash,
    "vLLM Triton": vllm_triton,
}
"""Kernels of others by the name of their column."""
