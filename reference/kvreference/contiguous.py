"""The contiguous allocator of classic serving, the baseline that paging is compared with.

Every request gets one buffer of maximal length when it is admitted and keeps it whole until it ends. Nothing is
shared and nothing moves; what a request does not fill is wasted.
"""

from __future__ import annotations

from collections.abc import Mapping

from kvspec.plans import Admission, Extension, Rejected
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class ContiguousPool:
    """Buffers of `max_model_len` tokens (a world's option), each a run of neighbouring blocks."""

    capabilities = Capabilities(
        caching=(False,),
        options={"max_model_len": (4, 8, 12)},
        num_blocks=(4, 24),
        lookahead_blocks=12,
    )
    """The lookahead is the whole buffer: at most 12 tokens in blocks of one."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.length = min(world.blocks_for(world.max_model_len), world.num_blocks)
        self.free_buffers = list(range(world.num_blocks // self.length))
        self.held: dict[RequestId, int] = {}

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Give the request a buffer; None if all are taken. Raises `Rejected` if it is longer than a buffer."""
        if self.world.blocks_for(request.limit) > self.length or request.limit > self.world.max_model_len:
            raise Rejected(f"{request.id} has up to {request.limit} tokens, a buffer has {self.world.max_model_len}")
        if not self.free_buffers:
            return None
        self.held[request.id] = self.free_buffers.pop(0)
        return Admission(0, min(chunk, len(request.prompt)), self.table(request.id))

    def table(self, id: RequestId) -> tuple[BlockId, ...]:
        """The blocks of a request's buffer."""
        first = self.held[id] * self.length
        return tuple(BlockId(b) for b in range(first, first + self.length))

    def extend(self, id: RequestId, count: int) -> Extension:
        """The buffer already has a slot for every token that the request may ever have."""
        return Extension(self.table(id))

    def computed(self, id: RequestId, num_computed: int) -> None:
        """Nothing is published: nothing is ever shared."""

    def append(self, id: RequestId, token: TokenId) -> None:
        """The buffer does not change."""

    def free(self, id: RequestId) -> None:
        """Give the buffer back."""
        buffer = self.held.pop(id, None)
        if buffer is not None:
            self.free_buffers.append(buffer)

    def free_blocks(self) -> int:
        """Blocks outside of held buffers; those at the end that make no whole buffer count as free too."""
        return self.world.num_blocks - len(self.held) * self.length

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every live block table."""
        return {id: self.table(id) for id in self.held}
