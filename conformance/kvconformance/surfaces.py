"""What an adapter looks like: a plain class, nothing to inherit. A surface needs few methods; more sharpen the verdict.

A factory takes a `World` and returns a fresh engine; an adapter class is its own factory. Its `capabilities` say what
it can do and which freedoms of the specification it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kvspec.plans import Admission, Extension, Hit, Rejected, StepPlan
from kvspec.published import Published
from kvspec.vocabulary import BlockId, Capabilities, Request, RequestId, Surface, TokenId, TransferId, World


class Pool(Protocol):
    """A block manager alone. Each operation happens whole or, refused, changes nothing."""

    capabilities: Capabilities

    def admit(self, request: Request, chunk: int) -> Admission | None:
        """Share the longest prefix hit and give homes to the next tokens, at most `chunk`; None if it does not fit now.

        Raises `Rejected` if the request can never fit.
        """

    def extend(self, request: RequestId, count: int) -> Extension | None:
        """Give homes to the next `count` tokens; None if they do not fit now."""

    def computed(self, request: RequestId, num_computed: int) -> None:
        """The first `num_computed` tokens now have keys and values; full blocks may be published."""

    def append(self, request: RequestId, token: TokenId) -> None:
        """A token was sampled and joins the request's tokens."""

    def free(self, request: RequestId) -> None:
        """The request is over: give back its blocks."""

    def free_blocks(self) -> int:
        """How many blocks a new request could get: free, or idle and cached."""


class PoolExtras(Protocol):
    """Optional methods of a Pool, used where present (and where the capabilities say so)."""

    def lookup(self, request: Request) -> Hit:
        """The prefix hit that an admission would get now, without taking it."""

    def fork(self, parent: RequestId, child: Request) -> tuple[BlockId, ...] | None:
        """`child` continues with the parent's tokens and blocks; its table, or None if it does not fit."""

    def free_again(self, request: RequestId) -> None:
        """Release the blocks of a request that has already ended (default: `free`); may raise."""

    def failed(self, request: RequestId) -> None:
        """The step that computed the request failed; `free` follows."""

    def reset(self) -> bool:
        """Forget every cached prefix; False if refused."""

    def block_keys(self, request: Request) -> Sequence[object]:
        """The keys of the full blocks of a prompt, if they are meant to be shared between processes."""


class Stepper(Protocol):
    """A scheduler with its cache. The harness plays the model between `plan` and `complete`."""

    capabilities: Capabilities

    def add(self, request: Request) -> None:
        """A client's request. Raises `Rejected` if it can never fit."""

    def plan(self) -> StepPlan:
        """Decide the next step: who computes which positions, through which block table."""

    def complete(self, plan: StepPlan, sampled: Mapping[RequestId, TokenId]) -> Collection[RequestId] | None:
        """The step has run. `sampled` has a token for each request whose tokens are all computed.

        Returns the requests that are finished (None: the adapter cannot tell).
        """

    def abort(self, request: RequestId) -> None:
        """The client cancels, in whatever phase the request is."""

    def free_blocks(self) -> int:
        """How many blocks a new request could get: free, or idle and cached."""


Sampler = Callable[[RequestId, Sequence[int]], TokenId]
"""What the model says next to a request, given its prompt and the tokens that the engine keeps for it."""


class StepperExtras(Protocol):
    """Optional methods of a Stepper, used where present (and where the capabilities say so).

    `set_sampler` is for an engine of which one call plans, computes and samples: it is called once, before any
    request. `plan` then makes that call, asking the sampler for tokens, and `complete` only says who finished. The
    tokens that `complete` is given are the same, as long as the engine has lost none.
    """

    def set_sampler(self, sampler: Sampler) -> None:
        """Ask this function for every sampled token."""

    def fork(self, parent: RequestId, child: Request) -> bool:
        """`child` continues the running parent with the same tokens and blocks; False if refused."""

    def fail(self, plan: StepPlan) -> None:
        """The step failed on the device: its requests are dropped."""

    def reset(self) -> bool:
        """Forget every cached prefix; False if refused."""

    def transfer_done(self, transfer: TransferId) -> None:
        """A transfer that a plan began has finished."""

    def queues(self) -> tuple[tuple[RequestId, ...], tuple[RequestId, ...]]:
        """The ids of waiting and of running requests; who has left may stand among them until the next step is done."""


class Observations(Protocol):
    """Optional self-descriptions, for both surfaces."""

    def ref_counts(self) -> Mapping[BlockId, int]:
        """The reference count of every held block."""

    def tables(self) -> Mapping[RequestId, tuple[BlockId, ...]]:
        """Every live block table."""

    def free_set(self) -> Sequence[BlockId]:
        """The ids that could be handed out, with repetitions if the engine has them."""

    def keyed_blocks(self) -> frozenset[BlockId]:
        """The blocks that a lookup could return."""

    def counters(self) -> tuple[int, int]:
        """(tokens queried, tokens hit) so far."""

    def take_events(self) -> Sequence[Published]:
        """What the engine has published about its prefix cache since the last call, oldest first."""


class Generator(Protocol):
    """A whole engine as a black box: prompts in, greedy tokens out."""

    capabilities: Capabilities

    def generate(self, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> Sequence[Sequence[int]]:
        """The new tokens of each prompt, all served together."""

    def expected(self, prompt: Sequence[int], max_new_tokens: int) -> Sequence[int]:
        """The new tokens by plain decoding: no cache sharing, no chunks, no batch."""


class Prepared(Protocol):
    """Optional on the adapter class of any surface, and used where present."""

    @staticmethod
    def prepare() -> None:
        """Called before each history, outside of its time limit: what takes seconds once, such as a first engine."""


Factory = Callable[[World], Any]

REQUIRED: dict[Surface, tuple[str, ...]] = {
    Surface.POOL: ("admit", "extend", "computed", "append", "free", "free_blocks"),
    Surface.STEPPER: ("add", "plan", "complete", "abort", "free_blocks"),
    Surface.GROUPS: ("admit", "extend", "completed", "append", "free", "tables", "free_blocks"),
    Surface.TREE: ("match", "insert", "lock", "unlock", "evict", "nodes", "evictable_size", "protected_size"),
    Surface.GENERATOR: ("generate", "expected"),
    Surface.QUANTIZER: ("encode", "decode"),
    Surface.ATTENTION: ("attend",),
}
"""The methods without which an object is not an adapter of the surface."""


@dataclass(frozen=True)
class Engine:
    """An engine under test: its name and version, and a factory for each surface that it claims."""

    name: str
    version: str
    factories: Mapping[Surface, Factory]
    notes: Mapping[str, str] = field(default_factory=dict)

    def capabilities(self, surface: Surface) -> Capabilities:
        """What the adapter of a surface declares."""
        declared: Capabilities = self.factories[surface].capabilities  # type: ignore[attr-defined]
        return declared


__all__ = [
    "REQUIRED",
    "Admission",
    "BlockId",
    "Capabilities",
    "Engine",
    "Extension",
    "Factory",
    "Generator",
    "Hit",
    "Observations",
    "Pool",
    "PoolExtras",
    "Rejected",
    "Request",
    "RequestId",
    "Sampler",
    "StepPlan",
    "Stepper",
    "StepperExtras",
    "Surface",
    "World",
]
