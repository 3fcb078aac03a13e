"""Named refusals of bad input, raised on the host before any kernel is launched: nothing has been written.

Shapes, dtypes, devices and strides are known to the host and always checked. Values (ids, slots, lengths, numbers that
are not finite) live on the device of their tensor: looking at them waits for a GPU, so those checks can be turned off
with `checked=False` by a caller that has checked its plan on the host already.
"""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensor

from kvspec.refusals import (
    BlockRangeError,
    DtypeError,
    NonFiniteError,
    Refused,
    ScaleError,
    ShapeError,
    ShortTableError,
)


class DeviceError(Refused):
    """Tensors lie on different devices, or on one that cannot run the kernel."""


class StrideError(Refused):
    """Elements that a kernel reads as neighbours are not neighbours in memory."""


class FormatError(Refused):
    """No such format or layout, or a head dim that the format cannot hold."""


class DuplicateError(Refused):
    """Two rows are written to one slot, or two blocks are copied to one target."""


class CopyChainError(Refused):
    """A block is both a source and a target: what its copy holds would depend on the order of programs."""


class LengthError(Refused):
    """Lengths and row starts contradict each other."""


def require_shape(name: str, tensor: torch.Tensor, expected: tuple[int | None, ...]) -> None:
    """Raise `ShapeError` unless `tensor` has the `expected` shape; `None` allows any length."""
    fits = tensor.dim() == len(expected) and all(
        wanted is None or length == wanted for length, wanted in zip(tensor.shape, expected, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if length is None else str(length) for length in expected)
        raise ShapeError(f"{name} has shape {list(tensor.shape)}, expected [{wanted}]")


def require_dtype(name: str, tensor: torch.Tensor, *allowed: torch.dtype) -> None:
    """Raise `DtypeError` unless the elements of `tensor` are `allowed`."""
    if tensor.dtype not in allowed:
        wanted = " or ".join(str(dtype) for dtype in allowed)
        raise DtypeError(f"{name} has dtype {tensor.dtype}, expected {wanted}; convert it first")


def require_device(device: torch.device, **tensors: torch.Tensor | None) -> None:
    """Raise `DeviceError` unless every tensor that is given lies on `device`."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.device != device:
            raise DeviceError(f"{name} is on {tensor.device}, the cache on {device}; move it there")


def require_rows(name: str, tensor: torch.Tensor) -> None:
    """Raise `StrideError` unless the last axis of `tensor` is contiguous."""
    if tensor.numel() and tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
        raise StrideError(f"{name} has stride {tensor.stride(-1)} along its last axis, expected 1; call contiguous()")


def require_contiguous(name: str, tensor: torch.Tensor) -> None:
    """Raise `StrideError` unless `tensor` is contiguous."""
    if not tensor.is_contiguous():
        raise StrideError(f"{name} has strides {list(tensor.stride())}, which are not contiguous; call contiguous()")


def require_dense(name: str, tensor: torch.Tensor) -> None:
    """Raise `StrideError` unless each `tensor[i]` is one dense run of memory, and no two of them overlap.

    The stride of the first axis is otherwise free.
    """
    if not tensor.numel():
        return
    block = tensor[0]
    if not block.is_contiguous():
        raise StrideError(f"blocks of {name} have strides {list(tensor.stride())[1:]}, which are not dense")
    if len(tensor) > 1 and tensor.stride(0) < block.numel():
        raise StrideError(
            f"blocks of {name} are {tensor.stride(0)} elements apart and have {block.numel()}: they overlap"
        )


def require_disjoint(what: str, one: torch.Tensor, other: torch.Tensor) -> None:
    """Raise `StrideError` if a block of `one` shares memory with a block of `other`; shapes and strides are equal."""
    if not one.numel() or one.untyped_storage()._cdata != other.untyped_storage()._cdata:
        return
    size, blocks = one[0].numel(), len(one)
    apart = int(other.storage_offset()) - int(one.storage_offset())
    stride = int(one.stride(0)) if blocks > 1 else 1
    nearest = min(max(-apart // stride, -blocks + 1), blocks - 1)
    if any(abs(apart + k * stride) < size for k in (nearest, min(nearest + 1, blocks - 1))):
        raise StrideError(f"{what} lie in the same memory; give each its own")


def address_of(tensor: torch.Tensor) -> int:
    """The address of the first element; that within its storage where there is no memory."""
    if isinstance(tensor, FakeTensor):
        return int(tensor.storage_offset()) * int(tensor.element_size())
    return int(tensor.data_ptr())


def require_slots(slots: torch.Tensor, num_slots: int) -> None:
    """Raise `BlockRangeError` or `DuplicateError` unless every slot is -1 or one of the cache, none of them twice."""
    outside = slots[(slots < -1) | (slots >= num_slots)]
    if outside.numel():
        raise BlockRangeError(f"slot {int(outside[0])} is outside the {num_slots} slots of the cache; -1 is padding")
    real = slots[slots >= 0].sort().values
    twice = real[1:][real[1:] == real[:-1]]
    if twice.numel():
        raise DuplicateError(f"two rows are written to slot {int(twice[0])}; give every row a slot of its own")


def require_finite(name: str, rows: torch.Tensor, slots: torch.Tensor) -> None:
    """Raise `NonFiniteError` if a row `[tokens, kv_heads, head_dim]` that is not padding holds NaN or infinity."""
    bad = ~torch.isfinite(rows) & (slots >= 0)[:, None, None]
    if bool(bad.any()):
        token, head, channel = (int(index) for index in bad.nonzero()[0])
        number = float(rows[token, head, channel])
        raise NonFiniteError(f"{name}[{token}, {head}, {channel}] is {number}, for which integer codes have no code")


def require_scales(name: str, scales: torch.Tensor) -> None:
    """Raise `ScaleError` unless every static scale is a positive finite number."""
    bad = ~(torch.isfinite(scales) & (scales > 0))
    if bool(bad.any()):
        head = int(bad.nonzero()[0, 0])
        raise ScaleError(f"{name}[{head}] is {float(scales[head])}, a static scale is a positive finite number")


def require_copies(pairs: torch.Tensor, num_blocks: int) -> None:
    """Raise unless `pairs` `[copies, 2]` name blocks, every target once and no block as both source and target."""
    outside = pairs[(pairs < 0) | (pairs >= num_blocks)]
    if outside.numel():
        raise BlockRangeError(f"block {int(outside[0])} is outside the {num_blocks} blocks of the cache")
    targets = pairs[:, 1].sort().values
    twice = targets[1:][targets[1:] == targets[:-1]]
    if twice.numel():
        raise DuplicateError(f"two blocks are copied to block {int(twice[0])}; name every target once")
    both = pairs[:, 0][torch.isin(pairs[:, 0], targets)]
    if both.numel():
        raise CopyChainError(f"block {int(both[0])} is both source and target; copy in two calls")


def require_tables(
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
    block_size: int,
    num_blocks: int | None = None,
    first_key: int = 0,
) -> None:
    """Raise unless each row of `block_tables` `[requests, max_blocks]` covers its length with blocks of the cache.

    Entries beyond the length, and those of blocks before position `first_key`, may hold anything. `num_blocks` None
    leaves the upper end of ids unchecked.
    """
    if bool((lengths < 0).any()):
        request = int((lengths < 0).nonzero()[0, 0])
        raise LengthError(f"request {request} has length {int(lengths[request])}; lengths are counts of tokens")
    capacity = block_tables.shape[1] * block_size
    if bool((lengths > capacity).any()):
        request = int((lengths > capacity).nonzero()[0, 0])
        raise ShortTableError(
            f"request {request} has {int(lengths[request])} tokens, its table of {block_tables.shape[1]} blocks of "
            f"{block_size} covers {capacity}; widen block_tables"
        )
    columns = torch.arange(block_tables.shape[1], device=block_tables.device)
    used = (columns[None, :] * block_size < lengths[:, None]) & (columns[None, :] >= first_key // block_size)
    wrong = used & (block_tables < 0)
    if num_blocks is not None:
        wrong |= used & (block_tables >= num_blocks)
    if bool(wrong.any()):
        request, column = (int(index) for index in wrong.nonzero()[0])
        blocks = "the cache" if num_blocks is None else f"the {num_blocks} blocks of the cache"
        raise BlockRangeError(
            f"block_tables[{request}, {column}] is {int(block_tables[request, column])}, outside {blocks}"
        )


def require_starts(starts: torch.Tensor, lengths: torch.Tensor, tokens: int) -> None:
    """Raise `LengthError` unless `starts` `[requests + 1]` begins at 0, never falls, and ends at most at `tokens`.

    No request may have more rows than its length: its rows are its last positions.
    """
    rows = starts[1:] - starts[:-1]
    if int(starts[0]) != 0 or bool((rows < 0).any()) or int(starts[-1]) > tokens:
        raise LengthError(f"starts {starts.tolist()} do not rise from 0 to at most {tokens} rows")
    if bool((rows > lengths).any()):
        request = int((rows > lengths).nonzero()[0, 0])
        raise LengthError(
            f"request {request} has {int(rows[request])} rows and only {int(lengths[request])} tokens; "
            "lengths count the new tokens too"
        )
