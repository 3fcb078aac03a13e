"""The attention kernels of vLLM, called as its backends call them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from inspect import signature
from typing import Any

import torch

from benchmarks.ours import Calls
from benchmarks.problems import Batch, Problem
from benchmarks.wrapping import NotThere, descales, eight_bits, imported, maxima, plain_or_fp8, require, token_major

SEGMENTS, PROGRAMS = 16, 128
"""Of its Triton decode: parts of a request, and programs from which on none is cut."""


def flash(problem: Problem) -> Calls:
    """The FlashAttention that vLLM builds and calls."""
    fp8 = plain_or_fp8(problem)
    attend = imported("vllm.vllm_flash_attn").flash_attn_varlen_func
    keys, values = (token_major(problem, pages) for pages in (problem.cache.keys, problem.cache.values))
    longest, most = maxima(problem)
    version = {"fa_version": 3} if fp8 else {}

    def call(b: Batch, query: torch.Tensor, scales: Mapping[str, torch.Tensor]) -> torch.Tensor:
        output: torch.Tensor = attend(
            q=query,
            k=keys,
            v=values,
            max_seqlen_q=most,
            cu_seqlens_q=b.starts,
            max_seqlen_k=longest,
            seqused_k=b.lengths,
            softmax_scale=problem.scale,
            causal=True,
            block_table=b.tables,
            **scales,
            **version,
        )
        return output

    return [partial(call, b, eight_bits(b.query) if fp8 else b.query, descales(problem)) for b in problem.batches]


def triton(problem: Problem) -> Calls:
    """The Triton kernel of vLLM for mixed batches: plain, fp8 with one scale, int8 with a scale per token and head."""
    require(problem.shape.format != "int4", "its int4 rotates and has zero points: another format")
    module = imported("vllm.v1.attention.ops.triton_unified_attention")
    attend, known = module.unified_attention, signature(module.unified_attention).parameters
    require(problem.shape.format != "int8" or "kv_quant_mode" in known, "this version has no int8")
    keys, values = (token_major(problem, pages) for pages in (problem.cache.keys, problem.cache.values))
    longest, most = maxima(problem)
    fixed = {name: value for name, value in {**_modes(problem), **_parts(problem)}.items() if name in known}

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
            **fixed,
        )
        return output

    outputs = [torch.empty_like(batch.query) for batch in problem.batches]
    return [partial(call, b, output) for b, output in zip(problem.batches, outputs, strict=True)]


def _modes(problem: Problem) -> dict[str, Any]:
    """How the cache is quantized, in the words of vLLM's Triton kernel."""
    given: dict[str, Any] = {**dict.fromkeys(("k_descale", "v_descale")), **descales(problem), "q_descale": None}
    if problem.shape.format == "bf16":
        return given
    names = {"e4m3": "FP8_PER_TENSOR", "int8": "INT8_PER_TOKEN_HEAD"}
    try:
        mode = getattr(imported("vllm.v1.kv_cache_interface").KVQuantMode, names[problem.shape.format])
    except (NotThere, AttributeError):  # older versions see it by the dtype
        return given
    scales = {"k_scale_cache": problem.cache.key_scales, "v_scale_cache": problem.cache.value_scales}
    if problem.cache.dynamic:
        given |= {name: tensor.transpose(1, 2) for name, tensor in scales.items() if tensor is not None}
    return {**given, "kv_quant_mode": mode}


def _parts(problem: Problem) -> dict[str, Any]:
    """What vLLM's Triton kernel needs to cut requests of a decode into parts."""
    heads, device = problem.shape.heads, problem.cache.device
    most = PROGRAMS // heads.kv
    state = (most, heads.query, SEGMENTS)
    return {
        "seq_threshold_3D": most,
        "num_par_softmax_segments": SEGMENTS,
        "softmax_segm_output": torch.empty(*state, 1 << (heads.dim - 1).bit_length(), device=device),
        "softmax_segm_max": torch.empty(state, device=device),
        "softmax_segm_expsum": torch.empty(state, device=device),
    }
