"""The QuantizedCache of transformers with fp8, quanto and HQQ, by its public calls alone."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from optimum.quanto.library.extensions import get_extension
from transformers import LlamaConfig, QuantizedCache

from kvconformance.surfaces import Engine
from kvconformance.surfaces.quantizer import Array, Declaration, Encoded, QuantizerCapabilities, Setting, Single
from kvspec.numbers.floats import FP32, power_of_two
from kvspec.numbers.schemes import E4M3, Anchor, Division, Granularity, IntegerCodes, Scheme, Zero
from kvspec.vocabulary import Surface, World

GROUP = 4
"""Channels that share a scale in quanto and HQQ; their own default is 64, smaller findings are easier to read."""
RESIDUAL = 2
"""Tokens that stay unquantized until as many new ones have come."""

FP8 = Scheme(
    "fp8", E4M3.codes, 448, Granularity.TENSOR, floor=power_of_two(FP32.emin), nan=E4M3.nan, infinity=E4M3.infinity
)
QUANTO = Scheme(
    "quanto-int4",
    IntegerCodes(4, 0, 15),
    15,
    Granularity.GROUP,
    GROUP,
    anchor=Anchor.RANGE,
    zero=Zero.MINIMUM,
)
HQQ = Scheme(
    "hqq-int4",
    IntegerCodes(4, 0, 15),
    15,
    Granularity.GROUP,
    GROUP,
    anchor=Anchor.RANGE,
    zero=Zero.MINIMUM,
    division=Division.WITHIN_2_ULP,
)
BACKENDS: dict[str, tuple[str, dict[str, int]]] = {
    "fp8": ("fp8", {}),
    "quanto-int4": ("quanto", {"nbits": 4, "axis_key": 0, "axis_value": 0}),
    "hqq-int4": ("hqq", {"nbits": 4, "axis_key": 1, "axis_value": 1}),
}


class CacheQuantizer:
    """One layer's keys in a QuantizedCache, `[sequences, kv_heads, tokens, head_dim]` in its own order of axes."""

    capabilities = QuantizerCapabilities(
        # HQQ moves its zero by an optimisation that promises no half step.
        schemes=MappingProxyType(
            {"fp8": Declaration(FP8), "quanto-int4": Declaration(QUANTO), "hqq-int4": Declaration(HQQ, bounded=False)}
        ),
        head_dims=(GROUP, 2 * GROUP),
        max_running=(1, 2),
        shows=False,
        sequences=True,
    )

    def __init__(self, world: World) -> None:
        self.setting = Setting.of(world)
        self.past: list[_Call] = []

    def new_cache(self) -> Any:
        """An empty cache of one layer."""
        backend, options = BACKENDS[self.setting.name]
        if options:
            options = {**options, "q_group_size": GROUP, "residual_length": RESIDUAL}
        heads, dim = self.setting.kv_heads, self.setting.head_dim
        config = LlamaConfig(
            num_hidden_layers=1,
            num_attention_heads=heads,
            num_key_value_heads=heads,
            hidden_size=heads * dim,
            head_dim=dim,
        )
        return QuantizedCache(backend, config, **options)

    def encode(self, x: Single) -> Encoded:
        """A cache that holds `x` as its first chunk."""
        return Encoded(handle=[_Updated(x[None])])

    def decode(self, encoded: Encoded) -> Array:
        """What that cache hands to attention at the next token."""
        first: Array = self.held(encoded.handle)[0]
        return first

    def append(self, x: Single) -> None:
        """The next chunk of all sequences."""
        self.past.append(_Updated(x))

    def contents(self) -> Array:
        """What the cache hands to attention at the next token."""
        return self.held(self.past)

    def reorder(self, order: Array) -> None:
        """Beam search chooses among the sequences."""
        self.past.append(_Reordered(order))

    def restart(self) -> None:
        """Forget all tokens."""
        self.past.append(_Reset())

    def held(self, past: list[_Call]) -> Array:
        """The keys before one more token, of zeros, in a cache that has lived through `past`.

        A cache of its own, because the token changes it, and tensors of quanto cannot be copied.
        """
        cache, sequences = self.new_cache(), 1
        for call in past:
            call.apply(cache)
            sequences = len(call.states) if isinstance(call, _Updated) else sequences
        token = np.zeros((sequences, 1, self.setting.kv_heads, self.setting.head_dim), np.float32)
        keys: Array = _Updated(token).apply(cache)[:, :-1]
        return keys


@dataclass(frozen=True)
class _Updated:
    """Keys and values of new tokens, `[sequences, tokens, kv_heads, head_dim]`."""

    states: Single

    def apply(self, cache: Any) -> Array:
        """The keys that attention reads."""
        states = torch.from_numpy(np.ascontiguousarray(self.states.transpose(0, 2, 1, 3)))
        keys, _ = cache.update(states, states.clone(), 0)
        return np.asarray(keys.float()).transpose(0, 2, 1, 3)


@dataclass(frozen=True)
class _Reordered:
    """Sequences that took each other's place."""

    order: Array

    def apply(self, cache: Any) -> None:
        """As beam search does."""
        cache.reorder_cache(torch.from_numpy(self.order))


class _Reset:
    """All tokens gone."""

    def apply(self, cache: Any) -> None:
        """As between two prompts."""
        cache.reset()


def _unpacked(packed: torch.Tensor, bits: int) -> torch.Tensor:
    """Codes of `bits` bits, uint8, several to a byte; those in the lowest bits of all bytes come first."""
    return torch.cat([(packed >> shift) & (2**bits - 1) for shift in range(0, 8, bits)])


_Call = _Updated | _Reordered | _Reset


def engine() -> Engine:
    """The packages as they are installed, but for quanto's C++, which is compiled for a minute at its first use.

    All that it does on a CPU is to unpack codes; `_unpacked` does the same.
    """
    get_extension("quanto_cpp")._lib = SimpleNamespace(unpack=_unpacked)
    installed = ", ".join(f"{name} {version(name)}" for name in ("optimum-quanto", "hqq"))
    name = f"transformers {version('transformers')}, {installed}"
    return Engine("quantized-cache", name, {Surface.QUANTIZER: CacheQuantizer})
