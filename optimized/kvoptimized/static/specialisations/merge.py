"""Merging of states in the types that are merged."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from kvoptimized.merging import merge
from kvoptimized.static.recording import recorded
from kvoptimized.static.registry import Specialisation


def specialisations() -> Iterator[Specialisation]:
    """States of a cascade, and stored ones; one head dim that is no power of two."""
    yield _merge("merge fp32 to bf16", torch.float32, torch.bfloat16, 128)
    yield _merge("merge bf16", torch.bfloat16, torch.bfloat16, 128)
    yield _merge("merge fp16, head dim 80", torch.float16, torch.float16, 80)


def _merge(name: str, stored: torch.dtype, dtype: torch.dtype, head_dim: int) -> Specialisation:
    output, lse = torch.zeros(64, 32, head_dim, dtype=stored), torch.zeros(64, 32)
    return recorded(lambda: merge(output, lse, output, lse, dtype=dtype))[0].specialised(name)
