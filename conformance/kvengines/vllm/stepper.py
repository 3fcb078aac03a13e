"""vLLM's `Scheduler` with its cache: the real one, told what a model runner would tell it."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import RequestStatus
from vllm.v1.structured_output import StructuredOutputManager

from kvengines.vllm.events import Subscriber
from kvengines.vllm.observations import Observations, Publishing
from kvengines.vllm.setup import Requests, hash_block_size, kv_cache_config, vllm_config
from kvengines.vllm.worker import Worker
from kvspec.layout import Layout
from kvspec.plans import StepPlan
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, TokenId, World


class VllmScheduler(Observations):
    """The synchronous scheduler, over whichever groups of layers the world has."""

    def __init__(self, world: World) -> None:
        layout = Layout.of(world)
        self.requests = Requests(replace(world, block_size=hash_block_size(layout)))
        self.seen: list[RequestId] = []
        self.worker = Worker()
        self.flights: deque[Any] = deque()
        self.queries = self.hits = 0
        config = vllm_config(world)
        self.scheduler: Any = Scheduler(
            vllm_config=config,
            kv_cache_config=kv_cache_config(world),
            structured_output_manager=StructuredOutputManager(config),
            block_size=layout.unit,
            hash_block_size=hash_block_size(layout),
            log_stats=True,
        )
        self.manager = self.scheduler.kv_cache_manager
        self.subscriber = self.scheduler.kv_event_publisher = Subscriber(self.requests)

    def known(self) -> Iterable[RequestId]:
        """Every request ever added."""
        return self.seen

    def add(self, request: Request) -> None:
        """Queue a request."""
        self.seen.append(request.id)
        self.scheduler.add_request(self.requests.make(request))

    def plan(self) -> StepPlan:
        """Schedule a step and hand it to the worker."""
        output = self.scheduler.schedule()
        self.flights.append(output)
        return self.worker.receive(output, self.victims(output.preempted_req_ids))

    def victims(self, preempted: Collection[str]) -> list[str]:
        """In the order in which they gave way: the last of them waits before the others, under either policy."""
        return [r.request_id for r in reversed(list(self.scheduler.waiting)) if r.request_id in preempted]

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Collection[RequestId]:
        """Hand the oldest step's tokens to the scheduler; returns what it calls finished."""
        output = self.flights.popleft()
        self.worker.sampled(sampled)
        ids = list(output.num_scheduled_tokens)
        answer = ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={id: place for place, id in enumerate(ids)},
            sampled_token_ids=[[int(sampled[RequestId(id)])] if id in sampled else [] for id in ids],
            logprobs=None,
            prompt_logprobs_dict={},
            pooler_output=[],
        )
        finished: set[RequestId] = set()
        for client in self.scheduler.update_from_output(output, answer).values():
            finished |= {RequestId(o.request_id) for o in client.outputs if o.finish_reason is not None}
            self.count(client.scheduler_stats)
        return finished

    def abort(self, id: RequestId) -> None:
        """The client went away."""
        self.scheduler.finish_requests(str(id), RequestStatus.FINISHED_ABORTED)

    def reset(self) -> bool:
        """Forget every cached prefix; refused while any block is held."""
        return bool(self.scheduler.reset_prefix_cache())

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """(waiting, running), in the scheduler's order."""
        waiting = (r.request_id for r in (*self.scheduler.waiting, *self.scheduler.kv_holding_waiting))
        return tuple(waiting), tuple(r.request_id for r in self.scheduler.running)

    def count(self, stats: Any) -> None:
        """Add up the statistics of a step, which vLLM hands out and forgets."""
        if stats is not None and stats.prefix_cache_stats is not None:
            self.queries += stats.prefix_cache_stats.queries
            self.hits += stats.prefix_cache_stats.hits

    def counters(self) -> tuple[int, int]:
        """(tokens queried, tokens hit), those of the step in progress included."""
        now = self.manager.prefix_cache_stats
        return (self.queries + now.queries, self.hits + now.hits)


class VllmStepper(VllmScheduler, Publishing):
    """One group of full attention, under both policies and every chunking option."""

    capabilities = Capabilities(
        num_blocks=(2, 10),
        token_budgets=(1, 16),
        policies=("fcfs", "priority"),
        priorities=True,
        salts=True,
        adapters=True,
        resets=True,
        reserved_blocks=frozenset({BlockId(0)}),
        # A second request of the same step may hit what the first computes in it: writes come before reads.
        publishes="scheduled",
        # Duplicates are kept, and every physical copy is published when it is cached and when it is evicted; known
        # subscribers count them (one that does not loses content early, vLLM #55092).
        counts_copies=True,
        rejects_infeasible=False,
        # The worker never hears of blocks that a victim was given and lost again in the same step.
        hides_lost_takes=True,
        # "first come first served, i.e. requests are handled in order of arrival", or of priority, then arrival.
        # decode-first is not promised in words: `--profile decode-first` demands it (see FINDINGS.md).
        profiles=frozenset({"fcfs", "tail-first"}),
        options={
            "chunked_prefill": (True, True, True, False),
            "long_prefill_token_threshold": (0, 2, 2, 3),
            "scheduler_reserve_full_isl": (True, False),
            "watermark": (0.0, 0.0, 0.2),
        },
    )
