"""The standard shapes: decodes, chunks of prefill, shared prefixes, blocks copied, rows written; 16 tokens a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BLOCK_SIZE = 16
FORMATS = ("bf16", "e4m3", "int8", "int4")
ATTENTION = ("decode", "prefill", "cascade")
"""The operations with queries; the others, `copy` and `write`, only move bytes."""


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
    """Requests `(tokens, rows)` of one batch over a cache of one `format`.

    In `decode`, `prefill` and `cascade` the rows are queries, and the first `shared` tokens of all requests are the
    same; in `write` they are stored; in `copy` a request is a block to be copied, and has none.
    """

    operation: str
    name: str
    requests: tuple[tuple[int, int], ...]
    heads: Heads = STANDARD
    format: str = "bf16"
    shared: int = 0

    @property
    def attends(self) -> bool:
        """Whether there are queries."""
        return self.operation in ATTENTION

    @property
    def rows(self) -> int:
        """Rows of queries, or rows written."""
        return sum(rows for _, rows in self.requests)

    @property
    def tokens(self) -> int:
        """Tokens in the cache, a shared one counted once."""
        return self.shared + sum(tokens - self.shared for tokens, _ in self.requests)

    @property
    def pairs(self) -> int:
        """Query rows times the keys that each sees, causally."""
        seen = sum(rows * tokens - rows * (rows - 1) // 2 for tokens, rows in self.requests)
        return seen if self.attends else 0

    @property
    def flops(self) -> int:
        """Multiplications and additions of both matrix products."""
        return 4 * self.pairs * self.heads.query * self.heads.dim


_SECONDS = {
    ("8x32768", "bf16"): 275e-6,
    ("8x32768", "e4m3"): 160e-6,
    ("1x32768", "e4m3"): 27e-6,
    ("8x32768", "int8"): 160e-6,
    ("8x32768", "int4"): 110e-6,
    **{("1x1024", format): 10e-6 for format in FORMATS},
}
_COPIED = 3.9e12


def goal(shape: Shape, least_bytes: int) -> float | None:
    """The seconds that were aimed at on an H200, of decodes with the standard heads and of copies of many blocks."""
    if shape.operation == "copy" and len(shape.requests) == MANY:
        return least_bytes / _COPIED
    if shape.operation == "decode" and shape.heads == STANDARD:
        return _SECONDS.get((shape.name, shape.format))
    return None


def decodes() -> Iterator[Shape]:
    """The shape with a goal first, then batches and lengths, then the heads of other models."""
    batches = ((8, 32768), (1, 32768), (1, 1024), (32, 4096), (128, 1024), (256, 512), (1, 131072))
    for format in FORMATS:
        for batch, length in batches:
            yield Shape("decode", f"{batch}x{length}", ((length, 1),) * batch, format=format)
    for heads in OTHERS:
        for format in ("bf16", "int4"):
            yield Shape("decode", "8x32768", ((32768, 1),) * 8, heads, format)


MANY = 4096
"""Blocks of a copy that is limited by bandwidth."""


def moves() -> Iterator[Shape]:
    """Blocks copied, many or as many as a step forks; rows written by a chunk of prefill and by a step of decodes."""
    for format in FORMATS:
        for blocks in (MANY, 64):
            yield Shape("copy", f"{blocks} blocks", ((BLOCK_SIZE, 0),) * blocks, format=format)
        yield Shape("write", "8192 tokens of a prompt", ((8192, 8192),), format=format)
        yield Shape("write", "256 tokens of 256 requests", ((1, 1),) * 256, format=format)


def cascades() -> Iterator[Shape]:
    """Decodes behind a prefix that all of them share."""
    for format in FORMATS:
        yield Shape("cascade", "64x512 after 16384", ((16384 + 512, 1),) * 64, format=format, shared=16384)


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


def standard() -> Iterator[Shape]:
    """All of them, in order of interest."""
    for shapes in (decodes, moves, cascades, prefills):
        yield from shapes()
