"""vLLM's published KV events in the vocabulary of the specification: what a router that subscribes can know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kvengines.vllm.setup import Requests
from kvspec.published import AllBlocksCleared, BlockRemoved, BlockStored, Published
from kvspec.vocabulary import NO_PARTS, KeyParts, Media, TokenId


class Subscriber:
    """Follows the chain of each published hash, because a salt is named with its first block only.

    Stands in for the publisher of a scheduler; what is queued and not yet handed to it is taken from the manager. The
    length of an image, which no event tells, and the version behind an adapter's number come from the requests.
    """

    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self.batches: list[Any] = []
        self.chains: dict[Any, tuple[KeyParts, int]] = {}

    def publish(self, batch: Any) -> None:
        """Called by the scheduler with a `KVEventBatch` at the end of a step."""
        self.batches += batch.events

    def shutdown(self) -> None:
        """There is nothing to end."""

    def take(self, queued: Iterable[Any]) -> tuple[Published, ...]:
        """The events of all batches, then those that are still queued."""
        events, self.batches = [*self.batches, *queued], []
        return tuple(self.translate(event) for event in events)

    def translate(self, event: Any) -> Published:
        """One event; its type is told by its fields, which all versions have."""
        if hasattr(event, "token_ids"):
            return self.stored(event)
        if hasattr(event, "block_hashes"):
            return BlockRemoved(tuple(event.block_hashes))
        return AllBlocksCleared()

    def stored(self, event: Any) -> BlockStored:
        """A store, with the parts of the whole chain up to its end."""
        parts, start = self.chains.get(event.parent_block_hash, (NO_PARTS, 0))
        for number, key in enumerate(event.block_hashes):
            extras = event.extra_keys[number] if event.extra_keys else None
            parts = self.with_extras(parts, event, extras, start + number * event.block_size)
            self.chains[key] = (parts, start + (number + 1) * event.block_size)
        tokens = tuple(TokenId(token) for token in event.token_ids)
        return BlockStored(tuple(event.block_hashes), event.parent_block_hash, tokens, event.block_size, parts)

    def with_extras(self, parts: KeyParts, event: Any, extras: tuple[Any, ...] | None, start: int) -> KeyParts:
        """The parts of a chain with what the event says of one block, which begins at position `start`."""
        adapter, version, weights = self.requests.adapter_of(event.lora_id)
        said = list(extras or ())
        if event.lora_name is not None:
            said = said[1:]
        salt, media = parts.salt, list(parts.media)
        for extra in said:
            if isinstance(extra, str):
                salt = extra
            else:
                digest, offset = extra
                item = Media(digest, start + offset, self.requests.images[digest, start + offset])
                media += [item] if item not in media else []
        return KeyParts(salt, adapter, version, weights, tuple(media))
