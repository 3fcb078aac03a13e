"""SGLang's page allocators as a Pool: slots for one request at a time, nothing shared and nothing cached.

They trust their caller: who frees a page twice finds it twice in the free list. That is their documented contract (and
an assertion under `SGLANG_DEBUG_MEMORY_POOL`), so the adapter, which knows what is held, frees nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from kvengines.sglang.allocators import allocator
from kvspec.plans import Admission, Extension
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class SglangPool:
    """`alloc_extend` for a prompt or a chunk, `alloc_decode` for a single token, `free` for all of a request."""

    capabilities = Capabilities(
        caching=(False,),
        # Page 0 takes what padded tokens write.
        reserved_blocks=frozenset({BlockId(0)}),
        # Requests that are too long are refused before anything is allocated for them.
        rejects_infeasible=False,
    )

    def __init__(self, world: World) -> None:
        self.page_size = world.block_size
        self.allocator = allocator(world.num_blocks - 1, world.block_size)
        self.slots: dict[RequestId, Any] = {}

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Slots for the first chunk."""
        count = min(chunk, len(request.prompt))
        slots = self.grow(torch.empty(0, dtype=torch.int64), count)
        if slots is None:
            return None
        self.slots[request.id] = slots
        return Admission(0, count, self.table(request.id))

    def extend(self, id: RequestId, count: int) -> Extension | None:
        """Slots for the next tokens."""
        slots = self.grow(self.slots[id], count)
        if slots is None:
            return None
        self.slots[id] = slots
        return Extension(self.table(id))

    def grow(self, slots: Any, count: int) -> Any:
        """The slots with `count` more; None if there are too few."""
        before, after = torch.tensor([len(slots)]), torch.tensor([len(slots) + count])
        last = slots[-1:] if len(slots) else torch.tensor([-1])
        if self.page_size == 1:
            new = self.allocator.alloc(count)
        elif count == 1 and len(slots):
            new = self.allocator.alloc_decode(after, after, last)
        else:
            new = self.allocator.alloc_extend(before, before, after, after, last, count)
        return None if new is None else torch.cat((slots, new))

    def computed(self, id: RequestId, num_computed: int) -> None:
        """An allocator does not know."""

    def append(self, id: RequestId, token: TokenId) -> None:
        """Nor this."""

    def free(self, id: RequestId) -> None:
        """Give every slot of a request back, once."""
        slots = self.slots.pop(id, None)
        if slots is not None:
            self.allocator.free(slots)

    # Observations.

    def table(self, id: RequestId) -> tuple[BlockId, ...]:
        """The pages of a request's slots. Raises `RuntimeError` where a slot is not at its place in its page."""
        slots = self.slots[id].tolist()
        wrong = [place for place, slot in enumerate(slots) if slot % self.page_size != place % self.page_size]
        pages = [slot // self.page_size for slot in slots]
        if wrong or any(pages[p] != pages[p - 1] for p in range(1, len(pages)) if p % self.page_size):
            raise RuntimeError(f"slots {slots} do not fill pages of {self.page_size} one after the other")
        return tuple(BlockId(page) for page in pages[:: self.page_size])

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """The pages of every request."""
        return {id: self.table(id) for id in self.slots}

    def free_blocks(self) -> int:
        """Free pages."""
        return int(self.allocator.available_size()) // self.page_size

    def free_set(self) -> tuple[BlockId, ...]:
        """Their ids."""
        return tuple(BlockId(page) for page in self.allocator.get_all_free_pages().tolist())
