"""Merging two attention states, such as those of a shared prefix and of what follows it."""

from __future__ import annotations

import torch

from kvoptimized.kernels.merge import merge_states
from kvoptimized.operators import has_data, operator
from kvoptimized.refusals import StrideError, require_device, require_dtype, require_shape
from kvspec.refusals import ShapeError

ELEMENTS = 4096
"""Elements of a program's tile, whatever the batch."""
WARPS = 4
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
"""What outputs may be; sums are in fp32."""


@operator()
def merge(
    output_a: torch.Tensor,
    lse_a: torch.Tensor,
    output_b: torch.Tensor,
    lse_b: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The state over the union of two disjoint sets of keys: output `[rows, heads, head_dim]`, LSE `[rows, heads]`.

    Outputs are bf16, fp16 or fp32, both the same; LSE is fp32, the natural logarithm of the sum of exponentials. A
    state with LSE minus infinity is empty and changes nothing, whatever its output. The result has `dtype`, or that of
    the outputs. Raises `ShapeError`, `DtypeError`, `DeviceError` and `StrideError`.
    """
    _require_fit((output_a, lse_a), (output_b, lse_b))
    if dtype is not None:
        require_dtype("the merged output", torch.empty((), dtype=dtype, device="meta"), *DTYPES)
    output, lse = torch.empty_like(output_a, dtype=dtype), torch.empty_like(lse_a)
    if not has_data(output_a) or not output_a.numel():
        return output, lse
    head_dim = output_a.shape[-1]
    channels = 1 << (head_dim - 1).bit_length()
    states = max(1, ELEMENTS // channels)
    merge_states[(-(-lse.numel() // states),)](
        output_a,
        lse_a,
        output_b,
        lse_b,
        output,
        lse,
        lse.numel(),
        HEAD_DIM=head_dim,
        CHANNELS=channels,
        STATES=states,
        num_warps=WARPS,
        enable_fp_fusion=False,
    )
    return output, lse


def _require_fit(a: tuple[torch.Tensor, torch.Tensor], b: tuple[torch.Tensor, torch.Tensor]) -> None:
    (output_a, lse_a), (output_b, lse_b) = a, b
    require_shape("output_a", output_a, (None, None, None))
    if output_a.shape[-1] < 1:
        raise ShapeError("output_a has a head dim of 0, a state has at least one channel")
    require_dtype("output_a", output_a, *DTYPES)
    require_shape("output_b", output_b, tuple(output_a.shape))
    require_dtype("output_b", output_b, output_a.dtype)
    require_device(output_a.device, lse_a=lse_a, output_b=output_b, lse_b=lse_b)
    for name, lse in (("lse_a", lse_a), ("lse_b", lse_b)):
        require_shape(name, lse, tuple(output_a.shape[:2]))
        require_dtype(name, lse, torch.float32)
    for name, tensor in (("output_a", output_a), ("lse_a", lse_a), ("output_b", output_b), ("lse_b", lse_b)):
        if not tensor.is_contiguous():
            raise StrideError(f"{name} has strides {list(tensor.stride())}, states are dense; call contiguous()")
