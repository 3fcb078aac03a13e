"""Imposters of kernels in which one path of several is missing, reads the wrong array, or adds up in another order."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from kvconformance.engines.reference_attention import ReferenceAttention, StoredPages
from kvconformance.imposters.controls import Drifting
from kvconformance.surfaces.attention import HEAD_MAJOR, Attended, AttentionCall, AttentionCapabilities
from kvreference.paged_attention import Batch
from kvreference.paged_cache import PagedCache
from kvreference.pages import Layout
from kvreference.tolerance.declaration import Declaration
from kvspec import rules

# Paths of a hit.


class HitTakenForAColdPrompt(ReferenceAttention):
    """Has no branch for a prompt behind a hit, and reads as many keys as it has queries (vllm-ascend #1492)."""

    bug, broken_rule = "B194", rules.SPLIT_EQUALS_WHOLE

    def batch(self, call: AttentionCall) -> Batch:
        queries = np.diff(call.starts)
        prompt = (call.lengths > queries) & (queries > 1)
        return Batch(call.tables, np.where(prompt, queries, call.lengths), call.starts)


class HitPathLacksTheFormat(ReferenceAttention):
    """Has no kernel for fp16 where a prompt has cached context (imp #1350)."""

    bug, broken_rule = "B223", rules.SPLIT_EQUALS_WHOLE

    def attend(self, call: AttentionCall) -> Attended:
        queries = np.diff(call.starts)
        if call.dtype == "fp16" and ((call.lengths > queries) & (queries > 1)).any():
            raise NotImplementedError("no kernel for cached context in fp16")
        return super().attend(call)


# Wrong numbers.


class KeysReadAsValues(ReferenceAttention):
    """Reads keys where values belong in one kind of layer, that with a cap (ik_llama.cpp #1592)."""

    bug, broken_rule = "B219", rules.DECLARED_TOLERANCE

    def cache(self, call: AttentionCall) -> PagedCache:
        if call.softcap is None:
            return super().cache(call)
        layout = Layout.HEAD_MAJOR if call.layout == HEAD_MAJOR else Layout.TOKEN_MAJOR
        keys = StoredPages(call.keys, layout, call.dtype)
        return PagedCache(keys, keys)


class InvarianceEndsAtFourRows(Drifting):
    """Declares the same bits in every batch, and adds up in another order from four rows on (vLLM #51187)."""

    bug, broken_rule = "B229", rules.DECLARED_TOLERANCE
    capabilities: ClassVar[AttentionCapabilities] = replace(Drifting.capabilities, batch_invariant=True)

    def choose(self, declaration: Declaration, call: AttentionCall) -> Declaration:
        return replace(declaration, kv_tile=4096 if len(call.query) >= 4 else 4, split_tokens=None)
