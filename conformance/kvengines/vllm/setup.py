"""Worlds and requests in vLLM's own terms, built through its constructors."""

from __future__ import annotations

import copy
import json
import tempfile
from functools import cache
from math import gcd
from pathlib import Path
from typing import Any

import torch
from vllm.config import CacheConfig, DeviceConfig, ModelConfig, SchedulerConfig, VllmConfig
from vllm.config.kv_events import KVEventsConfig
from vllm.lora.request import LoRARequest
from vllm.multimodal.inputs import MultiModalFeatureSpec, PlaceholderRange
from vllm.sampling_params import SamplingParams
from vllm.utils import hashing
from vllm.v1.core import kv_cache_utils
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
    MambaSpec,
    SlidingWindowSpec,
)
from vllm.v1.request import Request as VllmRequest

from kvspec.layout import Group, Kind, Layout
from kvspec.vocabulary import NO_PARTS, KeyParts, Request, World

TINY_MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "num_key_value_heads": 1,
    "vocab_size": 512,
    "max_position_embeddings": 4096,
    "dtype": "float32",
}
"""Only its context length matters: no weights are ever loaded."""

REPRODUCIBLE_HASH = "sha256_cbor"
"""The one that vLLM documents as equal in every process; its default, `sha256`, hashes pickles."""


@cache
def base_config() -> Any:
    """The configuration that every world is a copy of: reading a model's takes seconds the first time."""
    with tempfile.TemporaryDirectory(prefix="kvspec-vllm-") as folder:
        (Path(folder) / "config.json").write_bytes(json.dumps(TINY_MODEL).encode())
        model = ModelConfig(model=folder, dtype="float32", seed=0, skip_tokenizer_init=True, max_model_len=64)
        scheduler = scheduler_config(World(8, 4), 64)
        cache_config = CacheConfig(block_size=4, enable_prefix_caching=True)
        return VllmConfig(
            model_config=model,
            scheduler_config=scheduler,
            cache_config=cache_config,
            device_config=DeviceConfig(device="cpu"),
        )


def scheduler_config(world: World, max_model_len: int) -> Any:
    """Scheduling options for a world.

    A step's budget may be smaller than the batch's: vLLM wants room for one token of each running request in the
    latter (`max_num_batched_tokens`), and has `max_num_scheduled_tokens` for the former. Without chunked prefill it
    wants room for a whole prompt; worlds without that room are chunked.
    """
    options = world.options
    chunked = bool(options.get("chunked_prefill", True)) or world.token_budget < max_model_len
    return SchedulerConfig(
        max_model_len=max_model_len,
        is_encoder_decoder=False,
        max_num_seqs=world.max_running,
        max_num_batched_tokens=max(world.token_budget, world.max_running),
        max_num_scheduled_tokens=world.token_budget,
        enable_chunked_prefill=chunked,
        long_prefill_token_threshold=min(int(str(options.get("long_prefill_token_threshold", 0))), max_model_len),
        scheduler_reserve_full_isl=bool(options.get("scheduler_reserve_full_isl", True)),
        watermark=float(str(options.get("watermark", 0.0))),
        policy=world.policy,
        async_scheduling=False,
    )


def max_model_len(world: World) -> int:
    """Longest request in tokens: what the usable blocks hold, since vLLM refuses longer ones before it queues them."""
    layout, usable = Layout.of(world), world.num_blocks - 1
    longest = next(n for n in range(usable * layout.unit, 0, -1) if max(layout.most_blocks(n)) <= usable)
    return min(world.max_model_len, longest)


def vllm_config(world: World) -> Any:
    """A whole configuration for one world."""
    config = copy.copy(base_config())
    config.model_config = copy.copy(config.model_config)
    config.model_config.max_model_len = max_model_len(world)
    config.scheduler_config = scheduler_config(world, max_model_len(world))
    config.cache_config = copy.copy(config.cache_config)
    config.cache_config.block_size = Layout.of(world).unit
    config.cache_config.num_gpu_blocks = world.num_blocks
    config.cache_config.enable_prefix_caching = world.caching
    config.kv_events_config = events_config()
    return config


def events_config() -> Any:
    """KV events are published, to whoever stands in the publisher's place."""
    return KVEventsConfig(enable_kv_cache_events=True, publisher="null")


def kv_cache_config(world: World) -> Any:
    """The groups of layers of a world over its blocks; without a layout, one of full attention."""
    groups = [group_spec(number, group) for number, group in enumerate(Layout.of(world).groups)]
    return KVCacheConfig(num_blocks=world.num_blocks, kv_cache_tensors=[], kv_cache_groups=groups)


def group_spec(number: int, group: Group) -> Any:
    """One group of layers in vLLM's terms."""
    attention = {"block_size": group.block_size, "num_kv_heads": 1, "head_size": 16, "dtype": torch.float32}
    if group.kind is Kind.WINDOW:
        spec = SlidingWindowSpec(**attention, sliding_window=group.window)
    elif group.kind is Kind.STATE:
        spec = MambaSpec(block_size=group.block_size, shapes=((16,),), dtypes=(torch.float32,), mamba_cache_mode="all")
    else:
        spec = FullAttentionSpec(**attention)
    return KVCacheGroupSpec(layer_names=[f"layer {number}"], kv_cache_spec=spec, is_eagle_group=group.lag > 0)


def hash_block_size(layout: Layout) -> int:
    """So vLLM resolves it: hits are multiples of all block sizes, and hashes of the largest size that divides all."""
    return gcd(*(group.block_size for group in layout.groups))


class Requests:
    """Makes vLLM's requests for one world, in order of arrival."""

    def __init__(self, world: World) -> None:
        hash_function = getattr(hashing, str(world.options.get("hash", REPRODUCIBLE_HASH)))
        kv_cache_utils.init_none_hash(hash_function)
        self.hasher = (
            kv_cache_utils.get_request_block_hasher(world.block_size, hash_function) if world.caching else None
        )
        self.arrivals = 0
        self.adapters: dict[tuple[str | None, int, int], int] = {}
        self.images: dict[tuple[str, int], int] = {}

    def make(self, request: Request) -> Any:
        """The request as vLLM's engine core would hold it."""
        self.arrivals += 1
        self.images |= {(item.digest, item.position): item.length for item in request.parts.media}
        return VllmRequest(
            request_id=str(request.id),
            prompt_token_ids=[int(token) for token in request.prompt],
            sampling_params=SamplingParams(max_tokens=request.max_new_tokens, ignore_eos=True),
            pooling_params=None,
            arrival_time=float(self.arrivals),
            priority=request.priority,
            cache_salt=request.parts.salt,
            lora_request=self.lora(request.parts),
            mm_features=media(request.parts),
            block_hasher=self.hasher,
        )

    def lora(self, parts: KeyParts) -> Any:
        """The adapter, a new path for each version of it; other weights can only be served beside these as one."""
        if parts.adapter is None and not parts.weights:
            return None
        name = parts.adapter or f"weights {parts.weights}"
        number = self.adapters.setdefault(parts.computes, len(self.adapters) + 1)
        return LoRARequest(name, number, f"/adapters/{name}/{parts.adapter_version}")

    def adapter_of(self, number: int | None) -> tuple[str | None, int, int]:
        """Adapter, its version and the weights behind the number by which vLLM knows them."""
        return next((computes for computes, known in self.adapters.items() if known == number), NO_PARTS.computes)


def media(parts: KeyParts) -> list[Any]:
    """The images behind placeholder tokens, by the digest of their bytes."""
    return [
        MultiModalFeatureSpec(
            data=None,
            modality="image",
            identifier=item.digest,
            mm_position=PlaceholderRange(offset=item.position, length=item.length),
        )
        for item in parts.media
    ]
