"""SGLang's own `Scheduler`, built without its processes, sockets, worker and metrics.

`get_next_batch_to_run` and all that it calls are SGLang's: the order of the queue, `PrefillAdder`, batches of prefill
and of decode, retraction, the allocation of a batch. So is what a result does to its requests.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from sglang.srt.disaggregation.utils import DisaggregationMode
from sglang.srt.managers import scheduler
from sglang.srt.managers.schedule_batch import ScheduleBatch
from sglang.srt.managers.schedule_policy import SchedulePolicy
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.managers.scheduler_components.batch_result_processor import SchedulerBatchResultProcessor
from sglang.srt.managers.scheduler_components.new_token_ratio_tracker import NewTokenRatioTracker
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.radix_cache import RadixCache
from sglang.srt.mem_cache.unified_radix_cache import ComponentType, UnifiedRadixCache
from sglang.srt.runtime_context import publish
from sglang.srt.server_args import ServerArgs
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

from kvengines.sglang.allocators import CPU, allocator, rows, window_allocator
from kvspec.layout import Kind, Layout
from kvspec.plans import Action, Preempted, TurnedAway
from kvspec.vocabulary import RequestId, World

VOCABULARY = 1 << 10
NO_LIMIT = 1 << 20


@cache
def configure() -> None:
    """Publish a scheduler's configuration on a CPU, once in a process; requests run up to the rows of the pool."""
    arguments = ServerArgs(model_path="none", device=CPU, pp_max_micro_batch_size=NO_LIMIT)
    # Otherwise the first tree with states asks for the model's configuration, over the network.
    arguments._mamba_cache_chunk_size = 64
    publish(arguments, role="scheduler")


def nothing(*arguments: Any, **options: Any) -> Any:
    """What statistics, streams and other devices would do."""


def first(batch: Any, *arguments: Any, **options: Any) -> Any:
    """The batch as it is."""
    return batch


class BareScheduler(Scheduler):  # type: ignore[misc] # the installed package is untyped
    """Attributes are those that `Scheduler.__init__` sets for one GPU, every feature that is off by default off."""

    chunked_req = cur_batch = last_batch = None
    device = CPU
    disaggregation_mode = DisaggregationMode.NULL
    forward_ct = processed_tokens_counter = 0
    max_prefill_bs = prefill_decode_interval = _prefill_decode_interval_remaining = 0
    max_prefill_tokens = NO_LIMIT
    model_config = SimpleNamespace(vocab_size=VOCABULARY, is_encoder_decoder=False, self_opened_think_start_ids=None)
    priority_scheduling_preemption_threshold = 0
    spec_algorithm = SpeculativeAlgorithm.NONE
    # Off.
    enable_hicache_storage = enable_hierarchical_cache = enable_hisparse = enable_lmcache = enable_lora = False
    enable_overlap = enable_priority_preemption = enable_priority_scheduling = enable_skip_finishing_decode = False
    abort_on_priority_when_disabled = enable_unified_cache_external_linker = False
    is_mixed_chunk = require_mlp_sync = False
    decode_offload_manager = dllm_config = dynamic_chunk_sizer = hisparse_coordinator = max_new_tokens_limit = None
    max_queued_requests = min_free_slots_delayer = prefill_delayer = scheduler_stage_metrics = None
    truncation_align_size = _pending_chunked_abort_req = None
    # Other processes and devices.
    beam_coordinator = SimpleNamespace(pending_member_rows=lambda batch: 0, retire_group=nothing)
    dp_attn_adapter = SimpleNamespace(maybe_prepare_mlp_sync_batch=first, maybe_convert_decode_to_extend=first)
    grammar_manager = SimpleNamespace(has_waiting_grammars=lambda: False)
    load_inquirer = SimpleNamespace(_get_num_pending_tokens=lambda chunk_deduct: 0)
    ngram_embedding_manager = SimpleNamespace(prepare_for_forward=first)
    tp_worker = SimpleNamespace(model_runner=SimpleNamespace(attn_backend=None, prefill_aware_swa=False))

    def __init__(self, world: World) -> None:
        configure()
        groups, pages = Layout.of(world).groups, world.num_blocks - 1
        self.page_size = groups[0].block_size
        # To SGLang a window is what is read besides a query's own position.
        windows = [group.window - 1 for group in groups if group.kind is Kind.WINDOW]
        self.sliding_window_size = next(iter(windows), None)
        self.is_hybrid_swa, self.is_hybrid_ssm = bool(windows), any(group.kind is Kind.STATE for group in groups)
        self.chunked_prefill_size = world.token_budget // self.page_size * self.page_size
        self.max_total_num_tokens = pages * self.page_size
        self.max_req_len = self.max_total_num_tokens - 1
        self.max_running_requests = world.max_running
        self.retracts = bool(world.options.get("test_retract"))
        # 0.8 in a server.
        self.window_pages = int(pages * float(str(world.options.get("swa_full_tokens_ratio", 1.0))))
        self.token_to_kv_pool_allocator = (
            window_allocator(pages, self.window_pages, self.page_size) if windows else allocator(pages, self.page_size)
        )
        self.req_to_token_pool = rows(world.max_running, self.max_total_num_tokens, states=self.is_hybrid_ssm)
        components = {ComponentType.SWA: windows, ComponentType.MAMBA: self.is_hybrid_ssm}
        params = CacheInitParams(
            disable=not world.caching or self.is_hybrid_ssm,
            req_to_token_pool=self.req_to_token_pool,
            token_to_kv_pool_allocator=self.token_to_kv_pool_allocator,
            page_size=self.page_size,
            sliding_window_size=self.sliding_window_size,
            tree_components=(ComponentType.FULL, *(kind for kind, there in components.items() if there)),
            # The other core, in Rust, does not show its nodes.
            tree_core_backend="python",
        )
        # A server has the unified one, also with --disable-radix-cache.
        radix = world.caching and world.options.get("cache") == "radix"
        self.tree_cache: Any = RadixCache(params) if radix else UnifiedRadixCache(params)
        self.policy = SchedulePolicy(world.policy, self.tree_cache, False, False, False)
        self.new_token_ratio_tracker = NewTokenRatioTracker.from_config()
        self.waiting_queue: list[Any] = []
        self.running_batch = ScheduleBatch(reqs=[], batch_is_full=False)
        self.metrics_reporter = SimpleNamespace(
            enable_metrics=False,
            num_generated_tokens=0,
            forward_ct_decode=0,
            report_prefill_stats=nothing,
            report_decode_stats=nothing,
        )
        self.results = SchedulerBatchResultProcessor(
            is_generation=True,
            disaggregation_mode=self.disaggregation_mode,
            enable_overlap=False,
            enable_overlap_mlx=False,
            model_config=self.model_config,
            token_to_kv_pool_allocator=self.token_to_kv_pool_allocator,
            tree_cache=self.tree_cache,
            hisparse_coordinator=None,
            req_to_token_pool=self.req_to_token_pool,
            decode_offload_manager=None,
            metrics_collector=None,
            metrics_reporter=self.metrics_reporter,
            draft_worker=None,
            model_worker=None,
            logprob_result_processor=None,
            output_streamer=SimpleNamespace(stream_output=nothing),
            beam_coordinator=self.beam_coordinator,
            abort_request=nothing,
        )
        self.journal: list[Action] = []

    def _add_request_to_queue(self, req: Any, is_retracted: bool = False) -> None:
        if is_retracted:
            self.journal.append(Preempted(RequestId(req.rid)))
        super()._add_request_to_queue(req, is_retracted)

    def send_abort_output(self, abort_req: Any, req: Any) -> None:
        """A request that the scheduler gives up."""
        self.journal.append(TurnedAway(RequestId(req.rid)))

    def next_batch(self) -> Any:
        """The head of `event_loop_normal`: what to run now, or None."""
        scheduler.TEST_RETRACT = self.retracts  # a server reads SGLANG_TEST_RETRACT once, when it is imported
        plan = self.get_next_batch_to_run(self.running_batch, self.last_batch)
        self.running_batch, self.last_batch = plan.running_batch, plan.batch_to_run
        self.forward_ct += plan.batch_to_run is not None
        return plan.batch_to_run

    def result(self, batch: Any, result: Any) -> None:
        """Its tail: the tokens of a batch. A chunk is stashed here; the scheduler would do it first thing next time."""
        if batch.forward_mode.is_extend():
            self.results.process_batch_result_prefill(batch, result)
        else:
            self.results.process_batch_result_decode(batch, result)
        chunked = self.chunked_req
        if chunked is not None and chunked.extend_end > chunked.prefix_len:
            self.stash_chunked_request(chunked)
