"""torch's scaled_dot_product_attention on a CPU, over the blocks of a request gathered by its table.

What its flash kernel does on a CPU: tiles of 512 keys, sums in float32, P rounded to bfloat16 or float16 after it was
summed, exponentials by polynomials: `exp_u20`, 20 units in the last place of float32, and `fexp_u20` for the half
precisions, whose relative error was measured at 2**-13.2 and is declared as 2**-11. It returns no LSE. A mask is added
to the logits, so only positions that some row of the request sees are gathered.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from kvconformance.surfaces import Engine
from kvconformance.surfaces.attention import HEAD_MAJOR, TOKEN_MAJOR, Attended, AttentionCall, AttentionCapabilities
from kvreference.tolerance.declaration import Declaration
from kvspec.vocabulary import Surface, World

TILE = 512
EXP_U20, FEXP_U20 = 20 * 2.0**-23, 2.0**-11


class TorchAttention:
    """One call of SDPA per request, forced to the flash kernel, with a boolean mask where rows see different keys."""

    capabilities: ClassVar[AttentionCapabilities] = AttentionCapabilities(
        block_sizes=(1, 2, 3, 4, 16),
        arithmetic=MappingProxyType(
            {
                "fp32": Declaration("fp32", None, exact_products=False, exp_error=EXP_U20, kv_tile=TILE),
                "bf16": Declaration("bf16", "bf16", exp_error=FEXP_U20, kv_tile=TILE),
                "fp16": Declaration("fp16", "fp16", exp_error=FEXP_U20, kv_tile=TILE),
            }
        ),
        layouts=(TOKEN_MAJOR, HEAD_MAJOR),
        windows=True,
        in_place=True,
    )

    def __init__(self, world: World) -> None:
        self.world = world

    def attend(self, call: AttentionCall) -> Attended:
        """Attention of every row; padding rows stay 0."""
        query = _tensor(call.query, call.dtype)
        output = torch.zeros(query.shape, dtype=torch.float32)
        starts = call.starts.tolist()
        for request, tokens in enumerate(call.lengths.tolist()):
            rows = slice(starts[request], starts[request + 1])
            if tokens and rows.start < rows.stop:
                output[rows] = _one(query[rows], call, request, tokens)
        return Attended(output.numpy())


def _one(query: Any, call: AttentionCall, request: int, tokens: int) -> Any:
    positions = torch.arange(tokens - len(query), tokens)[:, None]
    first = 0 if call.window is None else max(0, tokens - len(query) - call.window + 1)
    keys = torch.arange(first, tokens)[None]
    seen = keys <= positions if call.causal else torch.ones(len(query), tokens - first, dtype=torch.bool)
    if call.window is not None:
        seen &= keys > positions - call.window
    key, value = (_gathered(_tensor(x, call.dtype), call, request, first, tokens) for x in (call.keys, call.values))
    group = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(group, 1).transpose(0, 1)[None] for x in (key, value))
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        output = scaled_dot_product_attention(
            query.transpose(0, 1)[None], key, value, attn_mask=None if seen.all() else seen, scale=call.scale
        )
    return output[0].transpose(0, 1).float()


def _gathered(pages: Any, call: AttentionCall, request: int, first: int, tokens: int) -> Any:
    """Rows `[tokens - first, kv_heads, head_dim]` of positions `first:tokens`."""
    size = call.keys.shape[2 if call.layout == HEAD_MAJOR else 1]
    table = torch.from_numpy(call.tables[request, first // size : -(-tokens // size)].astype(np.int64))
    blocks = pages[table]
    rows = (blocks.transpose(1, 2) if call.layout == HEAD_MAJOR else blocks).flatten(0, 1)
    return rows[first % size : first % size + tokens - first]


def _tensor(array: Any, dtype: str) -> Any:
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bf16" else tensor


def engine() -> Engine:
    """The installed torch."""
    return Engine("torch-sdpa", str(torch.__version__), {Surface.ATTENTION: TorchAttention})
