"""vLLM 0.32.0, `prefix/draft-group-hit`: with EAGLE, a hit takes a block whose last draft slot is of another request.

The drafter computes its slot p from the token at p + 1: its inputs are the step's tokens moved by one. The key of a
block covers its own tokens only, so a lookup drops the last block that matches, since the token behind it may differ.
But the block that is kept need not come from the request that wrote the dropped one. A is (0 0) followed by 1, B is
(0 0) followed by 0 0 0; C has B's tokens and gets A's block, whose last draft slot was computed from A's token 1. The
target verifies every draft, so that drafts are lost and no token is wrong.
"""

from __future__ import annotations

import logging
import sys

import torch
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.request import Request

logging.getLogger("vllm").setLevel(logging.ERROR)

BLOCK = 2
init_none_hash(sha256)
hasher = get_request_block_hasher(BLOCK, sha256)
layers = FullAttentionSpec(block_size=BLOCK, num_kv_heads=1, head_size=8, dtype=torch.float32)


def request(id: str, prompt: list[int]) -> Request:
    """A request with these tokens."""
    return Request(id, prompt, SamplingParams(max_tokens=4, ignore_eos=True), None, block_hasher=hasher)


def run(with_a: bool) -> tuple[str, int]:
    """Whose block C takes for its first two tokens, and the token that stood behind them there."""
    group = KVCacheGroupSpec(["target", "draft"], layers, is_eagle_group=True)
    manager = KVCacheManager(KVCacheConfig(20, [], [group]), 64, BLOCK, BLOCK, use_eagle=True)
    writers: dict[int, Request] = {}
    for one in [request("A", [0, 0])] * with_a + [request("B", [0, 0, 0, 0, 0])]:
        blocks, hit, _ = manager.get_computed_blocks(one)
        manager.allocate_slots(one, one.num_tokens - hit, hit, blocks)
        one.num_computed_tokens = one.num_tokens
        one.append_output_token_ids(1)
        writers |= {id: one for id in manager.get_block_ids(one.request_id)[0] if id not in writers}
    hit_blocks, hit, _ = manager.get_computed_blocks(request("C", [0, 0, 0, 0, 0]))
    (ids,) = hit_blocks.get_block_ids()
    writer = writers[ids[-1]]
    print(f"C (0 0 0 0 0) hits {hit} tokens, in a block of {writer.request_id} {tuple(writer.all_token_ids)}")
    return writer.request_id, writer.all_token_ids[hit]


print("without A:", end=" ")
run(with_a=False)
print("with A:   ", end=" ")
owner, behind = run(with_a=True)
if behind != 0:
    print(f"the draft slot of position 1 was computed from {owner}'s next token, {behind}; C's next token is 0")
sys.exit(behind != 0)
