"""The standard shapes: blocks of 16 tokens, batches of decodes, chunks of prefill, and both mixed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BLOCK_SIZE = 16
FORMATS = ("bf16", "e4m3", "int8", "int4")


@dataclass(frozen=True, slots=True)
class Heads:
    """Query heads, KV heads and head dim of a layer."""

    query: int
    kv: int
    dim: int

    def __str__(self) -> str:
        return f"{self.query}/{self.kv} d{self.dim}"


STANDARD = Heads(32, 8, 128)
OTHERS = (Heads(64, 8, 128), Heads(32, 4, 128), Heads(8, 1, 128), Heads(64, 8, 64))


@dataclass(frozen=True, slots=True)
class Shape:
    """Requests `(tokens, rows)` of one batch over a cache of one `format`; `operation` is `decode` or `prefill`."""

    operation: str
    name: str
    requests: tuple[tuple[int, int], ...]
    heads: Heads = STANDARD
    format: str = "bf16"

    @property
    def rows(self) -> int:
        """Query rows."""
        return sum(rows for _, rows in self.requests)

    @property
    def tokens(self) -> int:
        """Tokens in the cache."""
        return sum(tokens for tokens, _ in self.requests)

    @property
    def pairs(self) -> int:
        """Query rows times the keys that each sees, causally."""
        return sum(rows * tokens - rows * (rows - 1) // 2 for tokens, rows in self.requests)

    @property
    def flops(self) -> int:
        """Multiplications and additions of both matrix products."""
        return 4 * self.pairs * self.heads.query * self.heads.dim


def decodes() -> Iterator[Shape]:
    """The shape with a goal first, then batches and lengths, then the heads of other models."""
    batches = ((8, 32768), (1, 32768), (1, 1024), (32, 4096), (128, 1024), (256, 512), (1, 131072))
    for format in FORMATS:
        for batch, length in batches:
            yield Shape("decode", f"{batch}x{length}", ((length, 1),) * batch, format=format)
    for heads in OTHERS:
        for format in ("bf16", "int4"):
            yield Shape("decode", "8x32768", ((32768, 1),) * 8, heads, format)


def prefills() -> Iterator[Shape]:
    """A prompt, a chunk with history, and chunks among decodes."""
    batches = {
        "prompt of 4096": ((4096, 4096),),
        "chunk of 512 after 7680": ((8192, 512),),
        "2 chunks of 512 after 3584, 62 decodes of 2048": ((4096, 512),) * 2 + ((2048, 1),) * 62,
    }
    for format in FORMATS:
        for name, requests in batches.items():
            yield Shape("prefill", name, requests, format=format)
