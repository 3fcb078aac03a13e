r"""The reference key chain: SHA-256 over one canonical byte encoding, so that any language can reproduce it.

Encoding, all integers big-endian:

* root        `b"kvspec-key-1" text(salt) text(adapter) u64(adapter_version) u64(weights)`
* block i     `digest(i - 1) u32(number of tokens) u64(token)… u32(number of media) media…`
* media       `u32(position in the block of its first placeholder) u32(placeholders in the block)
              u64(placeholders of the item before this block) text(digest)`
* text(None)  `b"\x00"`; text(s) is `b"\x01" u64(length of the UTF-8 bytes) bytes`

`digest(-1)` is the SHA-256 of the root; `digest(i)` of block i. Every field is typed and length-prefixed: no two
different inputs have one encoding, so two keys are equal only if the inputs are or SHA-256 collides.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import sha256

from kvspec.vocabulary import KeyParts, TokenId

_MAGIC = b"kvspec-key-1"


def root_key(parts: KeyParts) -> bytes:
    """The 32-byte key before the first block."""
    return sha256(encode_root(parts)).digest()


def block_key(parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
    """The 32-byte key of the block of `tokens` that begins at position `start` after the chain `parent`."""
    return sha256(encode_block(parent, tokens, parts, start)).digest()


def key_chain(tokens: Sequence[TokenId], block_size: int, parts: KeyParts) -> list[bytes]:
    """The keys of all full blocks of `tokens`, first block first."""
    chain, parent = [], root_key(parts)
    for start in range(0, len(tokens) - block_size + 1, block_size):
        parent = block_key(parent, tokens[start : start + block_size], parts, start)
        chain.append(parent)
    return chain


def encode_root(parts: KeyParts) -> bytes:
    """The canonical bytes of the parts that hold for a whole request."""
    return _MAGIC + _text(parts.salt) + _text(parts.adapter) + struct.pack(">QQ", parts.adapter_version, parts.weights)


def encode_block(parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
    """The canonical bytes of one block after the 32-byte key `parent`. Tokens are unsigned 64-bit."""
    end = start + len(tokens)
    inside = [m for m in parts.media if m.position < end and m.position + m.length > start]
    encoded = parent + struct.pack(f">I{len(tokens)}Q", len(tokens), *tokens) + struct.pack(">I", len(inside))
    for item in sorted(inside, key=lambda m: (m.position, m.digest)):
        first = max(item.position, start)
        count = min(item.position + item.length, end) - first
        encoded += struct.pack(">IIQ", first - start, count, first - item.position) + _text(item.digest)
    return encoded


def _text(value: str | None) -> bytes:
    if value is None:
        return b"\x00"
    data = value.encode()
    return b"\x01" + struct.pack(">Q", len(data)) + data
