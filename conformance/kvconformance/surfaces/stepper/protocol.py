"""What a scheduler with its cache looks like to us."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from kvconformance.surfaces.base import Sampler
from kvspec.plans import StepPlan
from kvspec.vocabulary import Capabilities, Request, RequestId, TokenId, TransferId


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

    def free_blocks(self) -> int | tuple[int, ...]:
        """How many blocks a new request could get: free, or idle and cached. Of pools of their own, for each group."""


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
