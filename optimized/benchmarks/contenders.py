"""The kernels of others, where they are installed.

A contender makes the calls of a problem, one for each of its batches, or raises `NotThere` with the reason. The calls
follow the documentation of each library; none has been run yet. Whether they compute the same is checked before they
are timed. A shared prefix is attended by all of them as part of every request.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import torch

from benchmarks import vllm_kernels
from benchmarks.ours import Calls
from benchmarks.problems import STATIC_SCALE, Batch, Problem
from benchmarks.shapes import BLOCK_SIZE
from benchmarks.wrapping import Contender, NotThere, descales, eight_bits, imported, plain_or_fp8, require, token_major

WORKSPACE = 128 << 20


def sdpa(problem: Problem) -> Calls:
    """Attention of torch over gathered, contiguous keys and values: no blocks, no tables, equal lengths."""
    require(problem.shape.format == "bf16", "no quantized cache")
    require(len(set(problem.shape.requests)) == 1, "requests of one length only")
    count = len(problem.shape.requests)
    tokens, rows = problem.shape.requests[0]
    require(rows in (1, tokens), "decodes or whole prompts only")
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
    shape, cache = problem.shape, problem.cache
    require(shape.format in ("bf16", "e4m3") and not cache.dynamic, "bf16, or fp8 with static scales")
    library = imported("flashinfer")
    heads, calls = shape.heads, []
    types = {"q_data_type": torch.bfloat16, "kv_data_type": cache.keys.dtype, "sm_scale": problem.scale}
    scales = {"k_scale": STATIC_SCALE, "v_scale": STATIC_SCALE} if cache.static else {}
    # Scratch memory, which calls may share that run one after another.
    workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device=cache.device)
    for batch in problem.batches:
        counts = (batch.lengths + BLOCK_SIZE - 1) // BLOCK_SIZE
        pages = torch.cat([batch.lengths.new_zeros(1), counts.cumsum(0).to(torch.int32)])
        ids = torch.cat([table[:count] for table, count in zip(batch.tables, counts.tolist(), strict=True)])
        last = (batch.lengths - 1) % BLOCK_SIZE + 1
        plan = (pages, ids, last, heads.query, heads.kv, heads.dim, BLOCK_SIZE)
        if shape.operation == "prefill":
            wrapper = library.BatchPrefillWithPagedKVCacheWrapper(workspace, "HND")
            wrapper.plan(batch.starts, *plan, causal=True, **types)
        else:
            wrapper = library.BatchDecodeWithPagedKVCacheWrapper(workspace, "HND", use_tensor_cores=True)
            wrapper.plan(*plan, **types)
        calls.append(partial(wrapper.run, batch.query, (cache.keys, cache.values), **scales))
    return calls


def flash_attention(problem: Problem) -> Calls:
    """FlashAttention 3 where it is installed, else 2, over blocks seen as token-major; fp8 needs 3."""
    fp8 = plain_or_fp8(problem)
    require(problem.shape.operation != "prefill", "decode only")
    keys, values = (token_major(problem, pages) for pages in (problem.cache.keys, problem.cache.values))
    try:
        attend, table = imported("flash_attn_interface").flash_attn_with_kvcache, "page_table"
    except NotThere:
        require(not fp8, "fp8 needs FlashAttention 3, which is not installed")
        attend, table = imported("flash_attn").flash_attn_with_kvcache, "block_table"

    def call(b: Batch, query: torch.Tensor, scales: Mapping[str, torch.Tensor]) -> torch.Tensor:
        options = {"cache_seqlens": b.lengths, "softmax_scale": problem.scale, "causal": True, table: b.tables}
        output: torch.Tensor = attend(query[:, None], keys, values, **options, **scales)[:, 0]
        return output

    return [partial(call, b, eight_bits(b.query) if fp8 else b.query, descales(problem)) for b in problem.batches]


CONTENDERS: Mapping[str, Contender] = MappingProxyType(
    {
        "torch SDPA": sdpa,
        "FlashInfer": flashinfer,
        "FlashAttention": flash_attention,
        "vLLM flash": vllm_kernels.flash,
        "vLLM Triton": vllm_kernels.triton,
    }
)
"""Kernels of others by the name of their column."""
