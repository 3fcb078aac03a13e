"""What a whole engine looks like to us."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kvspec.vocabulary import Capabilities


class Generator(Protocol):
    """A whole engine as a black box: prompts in, greedy tokens out."""

    capabilities: Capabilities

    def generate(self, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> Sequence[Sequence[int]]:
        """The new tokens of each prompt, all served together."""

    def expected(self, prompt: Sequence[int], max_new_tokens: int) -> Sequence[int]:
        """The new tokens by plain decoding: no cache sharing, no chunks, no batch."""
