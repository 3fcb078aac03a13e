"""SGLang's scheduler over a hybrid model: sliding windows or recurrent states beside full attention, under retraction.

A page of a window is paired with one of full attention (`full_to_swa_index_mapping`). A request holds those that it
allocated and has not given back (`evicted_seqlen`), and those of the tree that its lock keeps. A recurrent state has
one slot, which is overwritten from the first token of a request to its last: one block of a group whose blocks are
longer than any request. With a radix cache SGLang copies states into slots that no request holds, and goes on in the
slot that it copied. Neither has words here (a state that moves between entries), so states are driven without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sglang.srt.environ import envs
from sglang.srt.mem_cache.unified_radix_cache import ComponentType

from kvengines.sglang.stepper import SglangStepper
from kvspec.layout import Table, Tables
from kvspec.plans import Scheduled, StepPlan
from kvspec.vocabulary import BlockId, RequestId, World


class SglangHybrid(SglangStepper):
    """Full attention and a window behind one radix tree, or full attention and a state; each has a pool of its own."""

    capabilities = replace(
        SglangStepper.capabilities,
        # Of prompts; pages have the sizes of the groups.
        block_sizes=(2, 3, 4),
        num_blocks=(8, 20),
        options={
            **SglangStepper.capabilities.options,
            "cache": ("unified",),
            # What is known of those that ignore it where nothing is cached would hide the rest.
            "ignore_eos": (False,),
            "groups": (
                "full:1 window:1:2",
                "full:1 window:1:3",
                "full:2 window:2:3",
                "full:2 window:2:4",
                "full:2 window:2:5",
                "full:4 window:4:3",
                "full:4 window:4:6",
                "full:1 state:128",
                "full:2 state:128",
            ),
            "pool": ("own",),
            "swa_full_tokens_ratio": (1.0, 1.0, 0.8),
            # How many tokens have to leave the window before a decode gives their pages back; 128 in a server.
            "swa_eviction_interval": (1, 1, 3),
            # Whether a decode that has left its prompt behind gives up its lock on the prompt's window.
            "release_prefill_swa": (False, True),
        },
    )

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.pages, self.options, self.states = world.num_blocks, world.options, self.scheduler.is_hybrid_ssm
        there = world.max_running if self.states else self.scheduler.window_pages
        self.missing = world.num_blocks - 1 - there

    def plan(self) -> StepPlan:
        """SGLang's next batch, under the switches of the world, which it reads from its environment."""
        envs.SGLANG_SWA_EVICTION_INTERVAL.set(self.options.get("swa_eviction_interval", 1))
        envs.SGLANG_OPT_RELEASE_PREFILL_SWA.set(self.options.get("release_prefill_swa", False))
        return super().plan()

    def scheduled(self, batch: Any) -> Iterator[Scheduled]:
        """With the tables of both groups."""
        for one in super().scheduled(batch):
            yield replace(one, more=self.group_tables(self.requests[one.request])[1:])

    def group_tables(self, req: Any) -> Tables:
        """The pages of a request's row, and what the other group holds beside them."""
        other = (BlockId(self.pages + int(req.kv.mamba_pool_idx)),) if self.states else self.window(req)
        return self.table(req), other

    def window(self, req: Any) -> Table:
        """The pages of the window that the request holds."""
        kv, allocator = req.kv, self.scheduler.token_to_kv_pool_allocator
        row = self.scheduler.req_to_token_pool.req_to_token[kv.req_pool_idx, : kv.kv_allocated_len : self.size]
        slots = allocator.full_to_swa_index_mapping[row.long()].tolist()
        own = max(kv.cache_protected_len, kv.get_evicted_seqlen(ComponentType.SWA)) // self.size
        held = {*self.locked(req), *range(own, len(slots))}
        return tuple(
            BlockId(self.pages + slot // self.size) if page in held else None for page, slot in enumerate(slots)
        )

    def locked(self, req: Any) -> Iterator[int]:
        """The pages, counted from the start of the request, whose window its lock on the tree keeps."""
        core, lock = self.scheduler.tree_cache.tree_core, req.lock
        if lock is None or lock.swa_released:
            return
        path, last = [], lock.receipt.component_lock_uuids.get(ComponentType.SWA)
        node = core.node_by_id(lock.node)
        while node is not core.root_node:
            path.append(node)
            node = node.parent
        end = sum(len(node.key) for node in path) // self.size
        for node in path:
            data, start = node.component_data[ComponentType.SWA], end - len(node.key) // self.size
            if data.value is not None:
                yield from range(start, end)
            if last is not None and data.metadata.get("uuid") == last:
                return
            end = start

    def tables(self) -> Mapping[RequestId, Tables]:  # type: ignore[override]
        """The tables of every request that holds some."""
        return {id: self.group_tables(req) for id, req in self.requests.items() if req.kv.holds_kv}

    def free_blocks(self) -> tuple[int, int]:  # type: ignore[override]
        """Free pages and those that an eviction could free; what the second pool has not got nobody can hold."""
        pages, tree = self.scheduler.token_to_kv_pool_allocator, self.scheduler.tree_cache
        if self.states:
            slots = self.scheduler.req_to_token_pool.mamba_allocator
            return super().free_blocks(), int(slots.available_size()) + self.missing
        full = pages.full_available_size() + tree.full_evictable_size()
        window = pages.swa_available_size() + tree.swa_evictable_size()
        return int(full) // self.size, int(window) // self.size + self.missing
