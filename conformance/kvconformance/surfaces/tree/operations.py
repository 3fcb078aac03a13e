"""What is done to a radix tree."""

from __future__ import annotations

from kvconformance.history import Operation, Prompt
from kvspec.vocabulary import KeyParts


class Prefix(Operation, frozen=True):
    """Something is done with a prefix; not an operation by itself."""

    prompt: Prompt
    salt: str | None = None
    adapter: str | None = None
    adapter_version: int = 0
    weights: int = 0

    def parts(self) -> KeyParts:
        """The key parts besides the tokens."""
        return KeyParts(self.salt, self.adapter, self.adapter_version, self.weights)


class Match(Prefix, frozen=True):
    """A prefix is looked up."""


class Insert(Prefix, frozen=True):
    """The whole pages of a prefix are cached."""


class Lock(Operation, frozen=True):
    """What a lookup found is going to be used."""

    which: int = 0


class Unlock(Operation, frozen=True):
    """The operation that used a prefix is over."""

    which: int = 0


class Evict(Operation, frozen=True):
    """Room is wanted for so many tokens."""

    count: int = 1
