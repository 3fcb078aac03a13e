"""Imposters whose keys can be imitated, cut or made to collide, so that one client is served what another computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvreference.pool import ReferencePool
from kvreference.prefix_cache import PrefixCache
from kvspec import rules
from kvspec.plans import Hit
from kvspec.vocabulary import KeyParts, Media, Request, TokenId

# Tenants see nothing of each other.


class _NoSalt(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, salt=None))


class SaltNotInKey(ReferencePool):
    """Shares cached prefixes among all tenants (vLLM #17045)."""

    bug, broken_rule = "B243", rules.ISOLATION
    cache_type = _NoSalt


class SecondLookupIgnoresSalt(ReferencePool):
    """Derives keys a second time, for lookups, and does not pass the salt (vLLM #51640)."""

    bug, broken_rule = "B244", rules.ISOLATION

    def lookup(self, request: Request) -> Hit:
        return super().lookup(replace(request, parts=replace(request.parts, salt=None)))


# Key parts cannot imitate each other.


class _Untyped(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        names = sorted(name for name in (parts.salt, parts.adapter) if name)
        return super().root(replace(parts, salt="|".join(names) or None, adapter=None))


class AdapterNameEqualsSalt(ReferencePool):
    """Puts salts and adapter names into one list without saying which is which (vLLM #44701)."""

    bug, broken_rule = "B237", rules.KEY_DOMAINS
    cache_type = _Untyped


class _Joined(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        joined = (parts.salt or "") + (parts.adapter or "")
        return super().root(replace(parts, salt=joined or None, adapter=None))


class SaltAndAdapterConcatenated(ReferencePool):
    """Concatenates the client's salt and the adapter's name (SGLang #24638)."""

    bug, broken_rule = "B238", rules.KEY_DOMAINS
    cache_type = _Joined


# Identities are whole.


class _EightBits(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, [TokenId(token & 0xFF) for token in tokens], parts, start)


class TokensCutToEightBits(ReferencePool):
    """Keeps eight bits of each token in the key (vllm-mlx #444)."""

    bug, broken_rule = "B091", rules.KEY_DOMAINS
    cache_type = _EightBits


class _CutDigests(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        cut = tuple(replace(item, digest=item.digest[:4]) for item in parts.media)
        return super().extend(parent, tokens, replace(parts, media=cut), start)


class ImageIdentityCut(ReferencePool):
    """Keeps sixteen bits of an image's identity in the key (LMCache #3301)."""

    bug, broken_rule = "B239", rules.KEY_DOMAINS
    cache_type = _CutDigests


class _NoExtent(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        end = start + len(tokens)
        inside = [m for m in parts.media if m.position < end and m.position + m.length > start]
        flat = tuple(Media(item.digest, start, len(tokens)) for item in inside)
        return super().extend(parent, tokens, replace(parts, media=flat), start)


class ImageExtentNotInKey(ReferencePool):
    """Hashes the bytes of an image and not its extent: equal bytes in another shape are equal (vLLM #17378)."""

    bug, broken_rule = "B234", rules.COMPLETE_KEY
    cache_type = _NoExtent


# A collision gives no foreign data.


class _FourBits(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return bytes([super().extend(parent, tokens, parts, start)[0] & 0x0F])


class HitTrustsAWeakHash(ReferencePool):
    """Compares a hash of four bits and not the tokens behind it (openvino.genai #3722)."""

    bug, broken_rule = "B092", rules.KEY_DOMAINS
    cache_type = _FourBits


class _Modular(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, [TokenId(token % 255) for token in tokens], parts, start)


class PredictableHash(ReferencePool):
    """Hashes tokens modulo a known number, so that a client can choose a collision (vLLM #12621)."""

    bug, broken_rule = "B241", rules.KEY_DOMAINS
    cache_type = _Modular


class _OrderFree(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, sorted(tokens), parts, start)


class FastHashForgetsOrder(ReferencePool):
    """Offers a fast hash that adds the tokens of a block up, whatever their order (vLLM #54727)."""

    bug, broken_rule = "B242", rules.KEY_DOMAINS
    cache_type = _OrderFree
