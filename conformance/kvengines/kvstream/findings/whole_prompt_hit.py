"""kvstream 0.1.0, `prefix/one-token-left`, on the whole engine: a prompt may hit all its tokens.

The second of two equal requests asks its backend to skip its whole prompt; whoever does has nothing to compute the
first new token from.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

from kvstream import KVStreamEngine
from kvstream.backends.base import BaseBackend, GenerateRequest, Token

asked: list[tuple[int, int]] = []
"""For each request, the tokens of its prompt, and how many of them its backend is asked to skip."""


class Notes(BaseBackend):  # type: ignore[misc] # the installed package is untyped
    """A backend that notes what it is asked for and says one token."""

    async def generate(self, request: GenerateRequest) -> AsyncIterator[Token]:
        """The token."""
        asked.append((len(request.prompt_tokens), request.cached_prefix_tokens))
        yield Token("x", 0, finish_reason="length")

    async def health(self) -> bool:
        """Always."""
        return True


async def run() -> None:
    """Two equal requests, one after the other."""
    engine = KVStreamEngine(Notes(), num_gpu_blocks=8, num_cpu_blocks=8, block_size=16)
    for _ in range(2):
        async for _ in engine.generate("a prompt of 32 tokens, two pages", max_new_tokens=1):
            pass
    await engine.shutdown()


asyncio.run(run())
prompt, skipped = asked[1]
print(f"the second prompt of {prompt} tokens comes with {skipped} to skip; {prompt - skipped} are left to compute")
sys.exit(skipped == prompt)
