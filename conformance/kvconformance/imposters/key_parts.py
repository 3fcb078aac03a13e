"""Imposters whose keys leave out, or add, something that changes keys and values."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from kvreference.pool import ReferencePool
from kvreference.prefix_cache import PrefixCache
from kvspec import rules
from kvspec.vocabulary import KeyParts, RequestId, TokenId

# The key covers everything.


class NoAdapter(PrefixCache):
    """Keys without the adapter."""

    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, adapter=None, adapter_version=0))


class AdapterNotInKey(ReferencePool):
    """Makes keys of the tokens alone, whatever the adapter (vLLM #3263)."""

    bug, broken_rule = "B087", rules.COMPLETE_KEY
    cache_type = NoAdapter


class _OneName(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, adapter="adapter" if parts.adapter else None))


class AdaptersOfOneNameShare(ReferencePool):
    """Keys an adapter by a name that all adapters have and not by its identity (vLLM #30931)."""

    bug, broken_rule = "B088", rules.COMPLETE_KEY
    cache_type = _OneName


class _NoMedia(PrefixCache):
    def extend(self, parent: bytes, tokens: Sequence[TokenId], parts: KeyParts, start: int) -> bytes:
        return super().extend(parent, tokens, replace(parts, media=()), start)


class AllImagesShareOneEntry(ReferencePool):
    """Makes keys of the placeholder tokens and not of the image behind them (LMCache #690)."""

    bug, broken_rule = "B089", rules.COMPLETE_KEY
    cache_type = _NoMedia


# Keys are the same everywhere.

_SEED = secrets.token_bytes(8)


class _SeededRoot(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return sha256(_SEED + super().root(parts)).digest()


class RandomRootPerProcess(ReferencePool):
    """Seeds the first key of every chain from the randomness of its process (LMCache #1139)."""

    bug, broken_rule = "B093", rules.REPRODUCIBLE_KEY
    cache_type = _SeededRoot


class _Ordinals(PrefixCache):
    def __init__(self, block_size: int) -> None:
        super().__init__(block_size)
        self.loaded: list[str] = []

    def root(self, parts: KeyParts) -> bytes:
        if parts.adapter is None:
            return super().root(parts)
        if parts.adapter not in self.loaded:
            self.loaded.append(parts.adapter)
        return super().root(replace(parts, adapter=str(self.loaded.index(parts.adapter))))


class AdapterOrdinalInKey(ReferencePool):
    """Keys an adapter by the number under which it was loaded (vLLM #27211)."""

    bug, broken_rule = "B094", rules.REPRODUCIBLE_KEY
    cache_type = _Ordinals


# What changed is not found again.


class _NoVersion(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, adapter_version=0))


class ReloadedAdapterHitsTheOld(ReferencePool):
    """Leaves the version of an adapter out of the key and keeps its blocks when it is reloaded (vLLM #42125)."""

    bug, broken_rule = "B058", rules.INVALIDATE
    cache_type = _NoVersion


class _NoWeights(PrefixCache):
    def root(self, parts: KeyParts) -> bytes:
        return super().root(replace(parts, weights=0))


class NewWeightsHitTheOld(ReferencePool):
    """Keeps what the old weights computed when the weights change (lmdeploy #4917)."""

    bug, broken_rule = "B059", rules.INVALIDATE
    cache_type = _NoWeights


class FailedStepStaysMatchable(ReferencePool):
    """Keeps published what a failed step wrote (vLLM #50283)."""

    bug, broken_rule = "B061", rules.INVALIDATE

    def failed(self, id: RequestId) -> None:
        self.computed(id, self.holdings[id].allocated)
