"""Negative controls: kernels that differ from run to run by rounding alone, and must not be accused.

Each imitates a public report of "corruption" that was drift of the order of additions: `report` is its id in the list
of public bugs. They break nothing, so the suite must let all of them live.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from kvconformance.engines.reference_attention import ReferenceAttention
from kvconformance.surfaces.attention import AttentionCall, AttentionCapabilities
from kvreference.attention import Row, State, attend_row
from kvreference.evidence.kernels import nearest
from kvreference.tolerance.declaration import Declaration

DRIFTING = MappingProxyType(
    {
        "fp32": Declaration("fp32", None, exact_products=False, split_tokens=16),
        "bf16": Declaration("bf16", "bf16", split_tokens=16),
        "fp16": Declaration("fp16", "fp16", split_tokens=16),
    }
)


class Drifting(ReferenceAttention):
    """A float32 kernel that chooses its tile and its parts by the batch."""

    report: ClassVar[str]
    capabilities: ClassVar[AttentionCapabilities] = replace(
        ReferenceAttention.capabilities, arithmetic=DRIFTING, lse=False, splits=(1,), batch_invariant=False
    )

    def row(self, row: Row, call: AttentionCall) -> State:
        """One row in the tiles and parts of this batch."""
        if len(row.keys) == 0:
            return attend_row(row)
        declaration = self.choose(DRIFTING[call.dtype], call)
        return State(nearest(row, declaration), np.asarray(0.0))

    def choose(self, declaration: Declaration, call: AttentionCall) -> Declaration:
        """The tile and parts."""
        raise NotImplementedError


class ColdAndWarmTiles(Drifting):
    """A prefill without cached context runs in other tiles than one with it (vLLM #40896)."""

    report = "B226"

    def choose(self, declaration: Declaration, call: AttentionCall) -> Declaration:
        warm = (call.lengths > np.diff(call.starts)).any()
        return replace(declaration, kv_tile=16 if warm else 64, split_tokens=None)


class SplitsFollowHitLength(Drifting):
    """The context is cut where the cached prefix ends (SGLang #10721)."""

    report = "B227"

    def choose(self, declaration: Declaration, call: AttentionCall) -> Declaration:
        context = int((call.lengths - np.diff(call.starts)).max(initial=0))
        return replace(declaration, kv_tile=1, split_tokens=16 + context)


class TileFollowsBatch(Drifting):
    """A row alone and in a batch is added up in another order (vLLM #53257)."""

    report = "B228"

    def choose(self, declaration: Declaration, call: AttentionCall) -> Declaration:
        return replace(declaration, kv_tile=len(call.query), split_tokens=16 if len(call.lengths) > 1 else None)


class OtherOrderFromFourRows(Drifting):
    """From four rows on the keys are taken in one tile (vLLM #51187)."""

    report = "B229"

    def choose(self, declaration: Declaration, call: AttentionCall) -> Declaration:
        return replace(declaration, kv_tile=4096 if len(call.query) >= 4 else 4, split_tokens=None)


CONTROLS: tuple[type[Drifting], ...] = (
    ColdAndWarmTiles,
    SplitsFollowHitLength,
    TileFollowsBatch,
    OtherOrderFromFourRows,
)
