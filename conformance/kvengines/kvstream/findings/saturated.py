"""kvstream 0.1.0, `alloc/coverage-and-limit`, on the whole engine: when pages run out, decoding goes on without them.

One page of four tokens, a prompt of four, and a backend that says eight more.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator

from kvstream import KVStreamEngine
from kvstream.backends.base import BaseBackend, GenerateRequest, Token

logging.disable()


class Eight(BaseBackend):  # type: ignore[misc] # the installed package is untyped
    """A backend that says eight tokens."""

    async def generate(self, request: GenerateRequest) -> AsyncIterator[Token]:
        """The tokens."""
        for number in range(8):
            yield Token("x", number, finish_reason="length" if number == 7 else None)

    async def health(self) -> bool:
        """Always."""
        return True


async def run() -> tuple[int, int]:
    """The tokens that were handed out, and the homes that the request had at the end."""
    engine = KVStreamEngine(Eight(), num_gpu_blocks=1, num_cpu_blocks=1, block_size=4, max_batch_size=1)
    homes = tokens = 0
    async for _ in engine.generate("abcd", max_new_tokens=8):
        (sequence,) = engine.scheduler.running
        homes, tokens = 4 * len(engine.block_manager.get_block_table(sequence.seq_id)), tokens + 1
    await engine.shutdown()
    return tokens, homes


tokens, homes = asyncio.run(run())
print(f"{tokens} tokens are generated after a prompt of 4; the request had homes for {homes} tokens")
sys.exit(tokens + 3 > homes)
