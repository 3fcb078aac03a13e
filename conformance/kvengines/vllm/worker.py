"""What the device knows: block tables and tokens, pieced together from the scheduler's messages and nothing else.

vLLM sends a request's blocks once and then only what changes. The kernels read the table that the worker keeps, so
that table, and not the manager's, is what a step is judged by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kvspec.plans import Preempted, Scheduled, StepPlan
from kvspec.vocabulary import BlockId, RequestId, TokenId


@dataclass
class Row:
    """One request in the worker's batch; `computed` is the first position of the step at hand."""

    tokens: list[int]
    tables: list[list[int]]
    computed: int


class Worker:
    """The worker's side of `SchedulerOutput`."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def receive(self, output: Any, preempted: Iterable[str]) -> StepPlan:
        """Take in the message and tell the step that it stands for: victims first, then in the scheduler's order."""
        for id in output.finished_req_ids:
            self.rows.pop(id, None)
        for new in output.scheduled_new_reqs:
            self.begin(new)
        self.cached(output.scheduled_cached_reqs)
        victims = [Preempted(RequestId(id)) for id in preempted]
        return StepPlan((*victims, *(self.scheduled(id, n) for id, n in output.num_scheduled_tokens.items())))

    def begin(self, new: Any) -> None:
        """A request that comes with everything: new, or resumed under the second model runner."""
        tokens = new.prefill_token_ids or new.prompt_token_ids
        self.rows[new.req_id] = Row(list(tokens), [list(ids) for ids in new.block_ids], new.num_computed_tokens)

    def cached(self, batch: Any) -> None:
        """Requests of which the worker knows the rest: blocks are appended, of resumed ones replaced."""
        for place, id in enumerate(batch.req_ids):
            row, blocks = self.rows[id], batch.new_block_ids[place]
            row.computed = batch.num_computed_tokens[place]
            if id in batch.all_token_ids:
                row.tokens = list(batch.all_token_ids[id])
            if id in batch.resumed_req_ids:
                row.tables = [list(ids) for ids in blocks]
            elif blocks is not None:
                row.tables = [[*table, *ids] for table, ids in zip(row.tables, blocks, strict=True)]

    def scheduled(self, id: str, count: int) -> Scheduled:
        """The work of one request: what will be fed, and through which table."""
        row = self.rows[id]
        fed = row.tokens[row.computed : row.computed + count]
        table, *more = (tuple(map(BlockId, ids)) for ids in row.tables)
        tokens = tuple(TokenId(token) for token in fed)
        return Scheduled(RequestId(id), row.computed, count, table, tokens=tokens, more=tuple(more))

    def sampled(self, tokens: Mapping[RequestId, TokenId]) -> None:
        """The worker keeps what it samples: the scheduler does not send it back."""
        for id, token in tokens.items():
            self.rows[str(id)].tokens.append(int(token))
