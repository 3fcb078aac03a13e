"""The key chain against an encoder written from its description alone, and against the published vectors."""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvspec.keys import encode_block, encode_root, key_chain, root_key
from kvspec.vocabulary import KeyParts, Media

VECTORS = json.loads((files("kvspec") / "vectors" / "key_chain.json").read_text("utf-8"))


def number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "big")


def text(value: str | None) -> bytes:
    return b"\x00" if value is None else b"\x01" + number(len(value.encode()), 8) + value.encode()


def chain_from_the_description(tokens: list[int], block_size: int, parts: KeyParts) -> list[bytes]:
    root = b"kvspec-key-1" + text(parts.salt) + text(parts.adapter)
    digest = sha256(root + number(parts.adapter_version, 8) + number(parts.weights, 8)).digest()
    chain = []
    for start in range(0, len(tokens) // block_size * block_size, block_size):
        message = digest + number(block_size, 4)
        for token in tokens[start : start + block_size]:
            message += number(token, 8)
        items = []
        for media in parts.media:
            covered = [
                p for p in range(start, start + block_size) if media.position <= p < media.position + media.length
            ]
            if covered:
                items.append((media.position, media.digest, covered, covered[0] - media.position))
        message += number(len(items), 4)
        for _, digest_text, covered, before in sorted(items, key=lambda item: item[:2]):
            message += number(covered[0] - start, 4) + number(len(covered), 4) + number(before, 8) + text(digest_text)
        digest = sha256(message).digest()
        chain.append(digest)
    return chain


media_items = st.lists(
    st.builds(Media, st.text(max_size=4), st.integers(0, 6), st.integers(1, 3)),
    max_size=2,
    unique_by=lambda m: m.position,
)
parts = st.builds(
    KeyParts,
    st.none() | st.text(max_size=3),
    st.none() | st.text(max_size=3),
    st.integers(0, 3),
    st.integers(0, 3),
    media_items.map(tuple),
)
tokens = st.lists(st.integers(0, 2**64 - 1), max_size=9)


@given(tokens, st.integers(1, 4), parts)
def test_the_chain_is_what_the_description_says(tokens: list[int], block_size: int, parts: KeyParts) -> None:
    assert key_chain(tokens, block_size, parts) == chain_from_the_description(tokens, block_size, parts)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_published_vectors(vector: dict) -> None:
    given = vector["parts"]
    media = tuple(Media(*item) for item in given.pop("media", []))
    chain = key_chain(vector["tokens"], vector["block_size"], KeyParts(**given, media=media))
    assert [key.hex() for key in chain] == vector["keys"]


@given(tokens, tokens, parts, parts)
def test_different_inputs_have_different_encodings(a: list[int], b: list[int], p: KeyParts, q: KeyParts) -> None:
    if (p.salt, p.adapter, p.adapter_version, p.weights) != (q.salt, q.adapter, q.adapter_version, q.weights):
        assert encode_root(p) != encode_root(q)
    if a != b:
        assert encode_block(bytes(32), a, p, 0) != encode_block(bytes(32), b, p, 0)


def test_a_salt_cannot_imitate_an_adapter() -> None:
    assert root_key(KeyParts(salt="x")) != root_key(KeyParts(adapter="x"))
    assert root_key(KeyParts(salt="xy")) != root_key(KeyParts(salt="x", adapter="y"))
    assert root_key(KeyParts(salt="")) != root_key(KeyParts())
