"""The registry: every rule once, with its permanent id, one sentence, and what falls with it.

Ids never change and are never reused. `must` rules bind every engine that claims the surface; `profile` rules bind
only engines that declare the profile. `implies` names the rules whose breaking follows from breaking this one, so
that a report shows one root finding. `sources` are public bugs, and what `spec/` says of it: an invariant or a property
of liveness that `spec/cache.md` defines, or a page. `checked` says which part of kvspec enforces the rule.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final

from kvspec.vocabulary import Surface

POOL: Final = Surface.POOL
STEPPER: Final = Surface.STEPPER
GROUPS: Final = Surface.GROUPS
TREE: Final = Surface.TREE
GENERATOR: Final = Surface.GENERATOR
QUANTIZER: Final = Surface.QUANTIZER
ATTENTION: Final = Surface.ATTENTION


@dataclass(frozen=True, eq=False, slots=True)
class Rule:
    """One rule. Compared and hashed by identity: there is exactly one object per id."""

    id: str
    sentence: str
    surfaces: tuple[Surface, ...]
    implies: tuple[Rule, ...] = ()
    sources: tuple[str, ...] = ()
    profile: str | None = None
    checked: str = "transition"
    corrupts: bool = True
    """Whether the state means nothing after the rule was broken, so that an example must end."""

    @property
    def falls_with_it(self) -> tuple[Rule, ...]:
        """The transitive closure of `implies`, nearest first."""
        seen: dict[Rule, None] = {}
        queue = list(self.implies)
        while queue:
            rule = queue.pop(0)
            if rule not in seen:
                seen[rule] = None
                queue.extend(rule.implies)
        return tuple(seen)

    def covers(self, other: Rule) -> bool:
        """Whether breaking this rule shows that `other` is broken."""
        return other is self or other in self.falls_with_it

    def __repr__(self) -> str:
        return f"Rule({self.id})"


RULES: Final[dict[str, Rule]] = {}


def _rule(
    id: str,
    sentence: str,
    surfaces: tuple[Surface, ...],
    *,
    implies: tuple[Rule, ...] = (),
    sources: tuple[str, ...] = (),
    profile: str | None = None,
    checked: str = "transition",
    corrupts: bool = True,
) -> Rule:
    rule = Rule(id, sentence, surfaces, implies, sources, profile, checked, corrupts)
    if id in RULES:
        raise ValueError(f"rule id {id} is registered twice")
    RULES[id] = rule
    return rule


# The whole output of an engine: what every corruption ends in.

CHUNK_INDEPENDENCE = _rule(
    "sched/chunk-independence",
    "Any chunking, any hit length and any path give the result of one shot; atomic spans are never cut.",
    (STEPPER, GENERATOR),
    sources=("S13", "S15", "vLLM #52306", "SGLang #22020"),
)
RESUME_EQUALS_UNINTERRUPTED = _rule(
    "sched/resume-equals-uninterrupted",
    "A preempted and resumed request gives the result of an uninterrupted one; the outputs of older steps are "
    "applied exactly once or dropped exactly.",
    (STEPPER, GENERATOR),
    sources=("S14", "vLLM #48245", "nano-vllm #217", "vllm-gaudi #524"),
)

# What a cached block holds.

CONTENT_MATCHES_KEY = _rule(
    "prefix/content-matches-key",
    "A reusable block holds the keys and values of exactly the tokens and context in its key, at the right index; "
    "reassigning, rewriting or truncating it removes the old key.",
    (POOL, STEPPER, GROUPS, TREE, GENERATOR),
    implies=(CHUNK_INDEPENDENCE, RESUME_EQUALS_UNINTERRUPTED),
    sources=("S4", "S5", "vLLM #4764", "vLLM #5364", "nano-vllm #163"),
)
PUBLISH_ONLY_COMPUTED = _rule(
    "prefix/publish-only-computed",
    "Only full, computed, verified tokens can be matched; never drafts, tokens that may change, or positions that "
    "no step has computed.",
    (POOL, STEPPER, GROUPS),
    implies=(CONTENT_MATCHES_KEY,),
    sources=("S4", "vLLM #29387", "vLLM #12415"),
)
COMPLETE_KEY = _rule(
    "prefix/complete-key",
    "The key covers all that changes keys and values: full-width tokens, the prefix before them, position, adapter "
    "and its version, media, weights.",
    (POOL, STEPPER, TREE),
    implies=(CONTENT_MATCHES_KEY,),
    sources=("S10", "vLLM #3263", "vLLM #30931", "LMCache #690"),
)
KEY_DOMAINS = _rule(
    "prefix/key-domains",
    "The sources of key parts are typed and cannot imitate each other; identities are not truncated; a forced "
    "collision gives no foreign data.",
    (POOL, STEPPER),
    implies=(COMPLETE_KEY,),
    sources=("vLLM #44701", "SGLang #24638", "vllm-mlx #444", "vLLM #12621"),
)
REPRODUCIBLE_KEY = _rule(
    "prefix/reproducible-key",
    "If keys are declared shareable, equal inputs give equal keys in every process, language and load order.",
    (POOL,),
    sources=("vLLM #27211", "LMCache #1139"),
    checked="differential",
    corrupts=False,
)
ISOLATION = _rule(
    "sec/isolation",
    "Requests under different salts share nothing: no hits, in no tier and in nothing that can be observed.",
    (POOL, STEPPER, TREE),
    sources=("vLLM #17045", "vLLM #51640"),
)
INVALIDATE = _rule(
    "prefix/invalidate",
    "A change of weights or adapter, a reset, a failed step or a failed load makes the affected blocks unmatchable; "
    "a reset that is not supported is an error.",
    (POOL, STEPPER),
    implies=(CONTENT_MATCHES_KEY,),
    sources=("vLLM #42125", "lmdeploy #4917", "vLLM #50283"),
)
FRESH_HIT = _rule(
    "prefix/fresh-hit",
    "The hit length is derived at admission from the cache as it is then, and the counts derived from it are "
    "computed after it.",
    (POOL, STEPPER),
    implies=(CONTENT_MATCHES_KEY,),
    sources=("vLLM #18957", "nano-vllm #211"),
)
CONTIGUOUS_CHAIN = _rule(
    "prefix/contiguous-chain",
    "A hit is a contiguous chain of whole blocks from the first token on; eviction takes the tail of a released "
    "chain before its head.",
    (POOL, STEPPER, TREE),
    sources=("S10", "TGI #3067", "llm-d-inference-sim #704", "vLLM #48489"),
)
ONE_TOKEN_LEFT = _rule(
    "prefix/one-token-left",
    "A hit on the whole prompt still leaves at least one token to compute, and block accounting stays exact.",
    (POOL, STEPPER, GROUPS),
    sources=("S8", "vLLM #3239", "nano-vllm #144", "vLLM #11186"),
)
SHARED_BYTES_NEVER_CHANGE = _rule(
    "prefix/shared-bytes-never-change",
    "Writes go only to blocks with one owner, at the positions the owner computes; copies move at least the "
    "valid extent.",
    (POOL, STEPPER, GROUPS),
    implies=(CONTENT_MATCHES_KEY,),
    sources=("S6", "tt-xla #4190", "vLLM #417"),
)
MIRROR_EQUALS_INDEX = _rule(
    "prefix/mirror-equals-index",
    "Replaying the published events gives the real index: parents first, removal only with the last copy, "
    "namespace included.",
    (POOL, STEPPER, TREE),
    sources=("SGLang #24568", "vLLM #55092"),
    corrupts=False,
)
SYMMETRIC_LOCKS = _rule(
    "prefix/symmetric-locks",
    "Lock and unlock cover the same nodes even if nodes split between; a lock lasts until the operation that uses "
    "it completes, and a lookup that is not followed by a use leaves none.",
    (TREE,),
    sources=("vLLM #35931", "SGLang #38480"),
)
EVERY_GROUP_HIT = _rule(
    "prefix/every-group-hit",
    "A hit length is valid for all cache groups at once; only positions outside the window of every query in "
    "flight are released.",
    (GROUPS, STEPPER),
    implies=(CONTENT_MATCHES_KEY,),
    sources=("spec/cache.md", "vLLM #47926", "SGLang #29860"),
)
DRAFT_GROUP_HIT = _rule(
    "prefix/draft-group-hit",
    "A drafter goes on from a hit with slots that were computed from the request's own tokens, the token behind the "
    "slot included; anything else costs accepted drafts, but no token.",
    (GROUPS, STEPPER),
    sources=("spec/cache.md", "vLLM #47926", "SGLang #34870"),
    corrupts=False,
)
LONGEST_GROUP_HIT = _rule(
    "prefix/longest-group-hit",
    "A hit is the longest for which every cache group holds what it needs: absence in one group never blocks another, "
    "and no length that would be valid is passed over.",
    (GROUPS, STEPPER),
    sources=("spec/cache.md", "vLLM #57610", "vllm-ascend #16270"),
    profile="longest-hit",
    corrupts=False,
)

# Who owns a block.

CONSERVATION = _rule(
    "alloc/conservation",
    "After every operation each physical block is in exactly one state (free, idle and cached, held, fenced, "
    "reserved), with one owner unless it is shared, and the states add up to the pool.",
    (POOL, STEPPER, GROUPS, TREE),
    sources=("S2", "SGLang #27731", "TensorRT-LLM #12834"),
)
COUNT_EQUALS_HOLDERS = _rule(
    "alloc/count-equals-holders",
    "A block's reference count equals its live holders; one release per holder; a block is in the free set at most "
    "once.",
    (POOL, STEPPER, GROUPS),
    implies=(CONSERVATION,),
    sources=("S1", "vLLM #3347", "TensorRT-LLM #14937", "LMCache #2772"),
)
NO_DANGLING_REFERENCE = _rule(
    "alloc/no-dangling-reference",
    "No live block table names a block that is free or owned by somebody else; merging duplicates remaps first and "
    "frees second.",
    (POOL, STEPPER, GROUPS),
    implies=(COUNT_EQUALS_HOLDERS, CONSERVATION),
    sources=("mini-sglang #142", "sglang-jax #1618", "vLLM #42273"),
)
RESERVED_BLOCK = _rule(
    "alloc/reserved-block",
    "A reserved padding block is never handed out, written, counted or freed.",
    (POOL, STEPPER, GROUPS),
    implies=(CONSERVATION,),
    sources=("kvcached #398",),
)
IN_FLIGHT_FENCE = _rule(
    "alloc/in-flight-fence",
    "Memory is not reused while a dispatched step or a transfer may still read or write it.",
    (STEPPER,),
    implies=(CONTENT_MATCHES_KEY,),
    sources=("SGLang #35049", "vLLM #45357"),
)
EVERY_EXIT_RELEASES = _rule(
    "alloc/every-exit-releases",
    "Finish, abort, rejection, failure and removal release everything exactly once; at rest nothing is held.",
    (POOL, STEPPER, GROUPS),
    implies=(CONSERVATION,),
    sources=("mistral.rs #1388", "vllm-ascend #16663", "LMCache #3884"),
    corrupts=False,
)
FAILURE_IS_ATOMIC = _rule(
    "alloc/failure-is-atomic",
    "A refused or failed operation leaves counts, tables, keys and queues as they were.",
    (POOL, STEPPER, GROUPS),
    sources=("S12", "vLLM #11565", "transformers #46117"),
)
FIT_AGREES_WITH_ALLOCATE = _rule(
    "alloc/fit-agrees-with-allocate",
    "What fits is given and what does not fit is refused before anything is touched; idle blocks that a hit takes "
    "are not counted as free as well.",
    (POOL, GROUPS, TREE),
    sources=("SGLang #34399", "vLLM #6849", "vLLM #17834"),
)
COVERAGE_AND_LIMIT = _rule(
    "alloc/coverage-and-limit",
    "Before a step each request owns a slot for every position the step writes, and never more than its limit.",
    (POOL, STEPPER, GROUPS),
    sources=("S7", "vLLM #10730", "TensorRT-LLM #13320"),
)
ONE_PAGE_ROUNDING = _rule(
    "alloc/one-page-rounding",
    "Sizes, budgets and releases use one block size and one rounding rule: a table has exactly the blocks that its "
    "tokens need, and the declared lookahead, and gives back the partly filled last one with the full ones.",
    (POOL, STEPPER),
    sources=("S7", "SGLang #4977", "SGLang #7397"),
)

# What a step does.

STEP_BUDGET = _rule(
    "sched/step-budget",
    "The scheduled tokens of a step add up to at most the budget, each request at least one and none negative; "
    "every limit that exists is kept.",
    (STEPPER,),
    sources=("S9", "SGLang #13698", "mini-sglang #47", "TensorRT-LLM #12665"),
    corrupts=False,
)
ONE_QUEUE = _rule(
    "sched/one-queue",
    "A request is in one queue; a step schedules nobody twice, nobody it preempts and nobody who is gone; where order "
    "of arrival is declared, a victim keeps its place before newcomers.",
    (STEPPER,),
    sources=("vLLM #49097", "vLLM #41951"),
)
PROGRESS_OR_REJECT = _rule(
    "sched/progress-or-reject",
    "With work waiting, a step computes a token, frees a block or rejects a request; what can never fit is "
    "rejected, what fits is not, and every request finishes.",
    (STEPPER, GENERATOR),
    sources=("L1", "L2", "SGLang #19881", "vLLM #49674", "transformers #43150"),
)
FCFS_ORDER = _rule(
    "sched/fcfs-order",
    "Requests that were never started begin in order of arrival (under a priority policy: of priority, then arrival).",
    (STEPPER,),
    sources=("L5",),
    profile="fcfs",
    corrupts=False,
)
BOUNDED_DECODE_GAP = _rule(
    "sched/bounded-decode-gap",
    "Decodes go first: a running request that fits into budget and pool is scheduled in every step.",
    (STEPPER,),
    sources=("L4", "vLLM #49097"),
    profile="decode-first",
    corrupts=False,
)
LRU_ORDER = _rule(
    "evict/lru-order",
    "A new block is the idle one that was released longest ago, and of one release the last block of the chain "
    "goes first.",
    (POOL, STEPPER),
    sources=("S11",),
    profile="lru",
    corrupts=False,
)

# What can be observed.

COUNTERS = _rule(
    "obs/counters",
    "0 <= hits <= queries, both only grow, every hit is counted, and recomputation after preemption is counted apart.",
    (POOL, STEPPER),
    sources=("vLLM #25787", "LMCache #3269", "vllm-ascend #16639"),
    corrupts=False,
)

# Quantization, kernels and numerics.

_NUMERIC = (ATTENTION,)
_QUANT = (QUANTIZER,)
_SCALES = (QUANTIZER, ATTENTION)
ADDRESS_RANGE = _rule(
    "kernel/address-range",
    "Results do not depend on the magnitude of block ids; offsets are 64-bit or rejected.",
    _NUMERIC,
    sources=("vLLM #1486", "FlashInfer #3136"),
    checked="conformance",
)
RELABEL_INVARIANCE = _rule(
    "kernel/relabel-invariance",
    "Permuting physical blocks, padding strides or changing axis order leaves the output unchanged.",
    _NUMERIC,
    sources=("TGI #2711", "vLLM #17362"),
    checked="conformance",
)
POISON_INDEPENDENCE = _rule(
    "kernel/poison-independence",
    "Bytes that the request does not own or that are masked never change the output, NaN included.",
    _NUMERIC,
    sources=("vLLM #936", "vLLM #30887"),
    checked="conformance",
)
PADDING_WRITES_NOTHING = _rule(
    "kernel/padding-writes-nothing",
    "Padded rows have length 0 and no slot: they write nothing and read nothing.",
    _NUMERIC,
    sources=("vLLM #43810", "vLLM #13922"),
    checked="conformance",
)
EMPTY_IS_IDENTITY = _rule(
    "kernel/empty-is-identity",
    "Zero keys give output 0 and a log-sum-exp of minus infinity; merging with an empty state returns the other.",
    _NUMERIC,
    sources=("FlashInfer #4051", "FlashInfer #440"),
    checked="conformance",
)
SPLIT_EQUALS_WHOLE = _rule(
    "kernel/split-equals-whole",
    "Split, cascade or chunked context equals the unsplit result and writes every output row.",
    _NUMERIC,
    sources=("FlashInfer #50", "vLLM #55227"),
    checked="conformance",
)
EXACT_MASK = _rule(
    "kernel/exact-mask",
    "Causal and window bounds are absolute positions, exact at equality and at wrap.",
    _NUMERIC,
    sources=("transformers #41184", "llama.cpp #3835"),
    checked="conformance",
)
FRESH_METADATA = _rule(
    "kernel/fresh-metadata",
    "A replayed or cached plan, table or mask is the current step's; shared masks are never changed in place.",
    _NUMERIC,
    sources=("vLLM #39773", "vllm-ascend #1678"),
    checked="conformance",
)
HALF_STEP = _rule(
    "quant/half-step",
    "|x - dq(q(x))| is at most half a step inside the range, saturating outside, with ties as declared.",
    _SCALES,
    sources=("vLLM #45361", "SGLang #40581"),
    checked="conformance",
)
ONE_SCALE = _rule(
    "quant/one-scale",
    "The scale used on write is the scale used on read, once and in the right direction.",
    _SCALES,
    sources=("vLLM #42580", "SGLang #20705"),
    checked="conformance",
)
SCALE_TRAVELS = _rule(
    "quant/scale-travels",
    "Scales are placed, copied, shared, recycled and initialised together with their codes.",
    _SCALES,
    sources=("vLLM #51091", "kvcached #424"),
    checked="conformance",
)
SCALE_FROM_VALID_DATA = _rule(
    "quant/scale-from-valid-data",
    "Ranges come only from valid lanes; constant or zero data gives a finite scale; guards do not floor ordinary "
    "scales.",
    _QUANT,
    sources=("mlxcel #717", "lmdeploy #4849"),
    checked="conformance",
)
COMMUTES = _rule(
    "quant/commutes",
    "Shift, crop, copy, reset, reorder and rotation on quantized data equal the same on dequantized data within "
    "the bound.",
    _QUANT,
    sources=("llama.cpp #5652", "llama.cpp #25382"),
    checked="conformance",
)
DECLARED_TOLERANCE = _rule(
    "num/declared-tolerance",
    "Cold, warm and batch variation stay inside the declared tolerance; drift from reduction order is not "
    "corruption and is not reported as such.",
    (ATTENTION, GENERATOR),
    sources=("vLLM #40896", "SGLang #10721"),
    checked="conformance",
)


def find(text: str) -> Rule:
    """The rule with this id. Raises `KeyError` with the nearest ids."""
    if text in RULES:
        return RULES[text]
    near = difflib.get_close_matches(text, RULES, n=3, cutoff=0.3)
    hint = f"; did you mean {', '.join(near)}?" if near else "; `kvspec rules` lists them"
    raise KeyError(f"no rule is called {text!r}{hint}")
