"""What a third party writes: functions or a plain class, and a declaration, which is a `kvspec` scheme."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kvspec.numbers.floats import FP32
from kvspec.numbers.schemes import Division, Granularity, Scheme
from kvspec.vocabulary import Capabilities, World

Array = NDArray[Any]
Single = NDArray[np.float32]


class QuantizerError(ValueError):
    """An adapter declares or returns what cannot be judged; the message says what and where."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """What `encode` returns; None for what the quantizer does not show, which is then judged by its bound alone.

    `codes` `[tokens, kv_heads, head_dim]`: integers, or the patterns of 8-bit floats. `scales` and `zeros` (zero points
    or minima): one for each group, in the order of `kvspec.numbers.groups`. `handle`: anything that `decode` needs.
    """

    codes: Array | None = None
    scales: Array | None = None
    zeros: Array | None = None
    handle: Any = None


@dataclass(frozen=True)
class Declaration:
    """A scheme, and how far the quantizer commits itself to it.

    `bounded=False` says that codes are chosen by a search or an optimisation, for which no half step is promised.
    """

    scheme: Scheme
    bounded: bool = True

    @property
    def exact_codes(self) -> bool:
        """Whether the division is declared, so that every value has one code."""
        return self.scheme.division is not Division.WITHIN_2_ULP


@dataclass(frozen=True, slots=True)
class QuantizerCapabilities(Capabilities):
    """What a quantizer declares: its schemes by name, and the shapes that it takes.

    Sizes are tried in the order given, those of small findings first. `specials` says that NaN and infinity are encoded
    as a scheme with a code for them declares; otherwise only finite numbers are tried. `shows` says that
    `encode` returns codes and scales. The last three say which optional
    methods there are: `encode_with`; `write`, `read` and `copy` (perhaps `rotate`); `append` and `contents` (perhaps
    `crop`, `reorder`, `restart`).
    """

    schemes: Mapping[str, Declaration] = field(default_factory=lambda: MappingProxyType({}))
    head_dims: tuple[int, ...] = (1, 2, 3, 8, 16)
    kv_heads: tuple[int, ...] = (1, 2)
    tokens: tuple[int, ...] = (1, 2, 3, 5)
    specials: bool = False
    shows: bool = True
    given_scales: bool = False
    blocks: bool = False
    sequences: bool = False


@dataclass(frozen=True)
class Setting:
    """The world of a quantizer: the name of its scheme, and the shape of a token's rows."""

    name: str
    kv_heads: int
    head_dim: int
    sequences: int

    @classmethod
    def of(cls, world: World) -> Setting:
        """Read from the options of a world. Raises `QuantizerError` where one is missing."""
        found = {key: world.options.get(key) for key in ("scheme", "kv_heads", "head_dim")}
        name, heads, dim = found.values()
        if not (isinstance(name, str) and isinstance(heads, int) and isinstance(dim, int) and heads > 0 and dim > 0):
            raise QuantizerError(f"the world of a quantizer needs scheme, kv_heads and head_dim, not {found}")
        return cls(name, heads, dim, world.max_running)


class Quantizer(Protocol):
    """A quantizer, built once per history as `Quantizer(world)` (see `Setting.of`); it may keep workspaces."""

    capabilities: QuantizerCapabilities

    def encode(self, x: Single) -> Encoded:
        """Codes and scales of `x` float32 `[tokens, kv_heads, head_dim]`; an exception is a refusal."""

    def decode(self, encoded: Encoded) -> Array:
        """What the codes mean, `[tokens, kv_heads, head_dim]`."""


class QuantizerExtras(Protocol):
    """Optional methods. Slots are int64 `[tokens]`, slot = block * block_size + offset, -1 for padding rows."""

    def encode_with(self, x: Single, scales: Single, zeros: Single | None) -> Encoded:
        """Encode with scales (and zero points or minima) that were fixed before, one for each group."""

    def write(self, slots: Array, x: Single) -> None:
        """Encode and store rows, and their scales; padding rows hold garbage and are not stored."""

    def read(self, slots: Array) -> Array:
        """Decoded rows `[tokens, kv_heads, head_dim]`."""

    def copy(self, source: int, target: int) -> None:
        """Copy a block."""

    def rotate(self, slots: Array, cosine: Single, sine: Single) -> None:
        """Turn the stored pairs (2i, 2i + 1): `cosine` and `sine` `[tokens, head_dim / 2]`."""

    def append(self, x: Single) -> None:
        """A chunk `[sequences, tokens, kv_heads, head_dim]` for sequences that grow together."""

    def contents(self) -> Array:
        """All that the sequences hold, as attention reads it, `[sequences, tokens, kv_heads, head_dim]`."""

    def crop(self, count: int) -> None:
        """Remove the last tokens of every sequence; of tokens that share scales of their own, whole groups."""

    def reorder(self, order: Array) -> None:
        """Sequence i becomes what sequence `order[i]` was."""

    def restart(self) -> None:
        """Empty every sequence."""


Encode = Callable[[Single], Encoded]
Decode = Callable[[Encoded], Array]


def quantizer(
    scheme: Scheme | Declaration, encode: Encode, decode: Decode, *, head_dims: tuple[int, ...] | None = None
) -> type[Any]:
    """Make two functions an adapter. Raises `QuantizerError` for a scheme that floors ordinary scales."""
    declared = scheme if isinstance(scheme, Declaration) else Declaration(scheme)
    require_honest(declared)
    sizes = head_dims or _head_dims(declared.scheme)
    capabilities = QuantizerCapabilities(schemes={declared.scheme.name: declared}, head_dims=sizes)

    def build(self: object, world: World) -> None: ...

    methods = {"__init__": build, "encode": staticmethod(encode), "decode": staticmethod(decode)}
    return type(getattr(encode, "__name__", "Quantizer"), (), {"capabilities": capabilities, **methods})


def require_honest(declared: Declaration) -> None:
    """Raise `QuantizerError` where a declared floor would hide that ordinary scales are floored."""
    smallest = FP32.smallest * 2 ** (FP32.precision - 1)
    if declared.scheme.floor > smallest:
        raise QuantizerError(
            f"{declared.scheme.name}: a floor of {float(declared.scheme.floor):g} is an ordinary scale"
        )


def _head_dims(scheme: Scheme) -> tuple[int, ...]:
    if scheme.granularity is Granularity.GROUP and scheme.group_size:
        return (scheme.group_size, 2 * scheme.group_size)
    return (1, 2, 3, 8, 16)
