"""The sentences of findings, by rule and guard: what was seen, and what was expected.

Both are templates over the values that the guard saw, or a function (`sentences`) where the state tells more. What
blame calls by another rule keeps the words of its guard, but for a few (`_RENAMED`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kvspec import events as ev
from kvspec import rules as r
from kvspec.blame import sentences
from kvspec.blame.case import Case
from kvspec.blame.sentences import Words
from kvspec.rules import Rule


def words(case: Case, rule: Rule) -> Words:
    """What was seen and what was expected, under the rule that is blamed."""
    how = case.broken.how
    found = _RENAMED.get((case.rule, how, rule)) or _WORDS[case.rule, how]
    if callable(found):
        seen, expected = found(case)
    else:
        does, last = _DOES.get(type(case.event), ""), case.state.world.num_blocks - 1
        named = {name: case.number(case.facts[name]) for name in _BLOCKS & case.facts.keys()}
        seen, expected = (text.format(**case.facts | named, does=does, last_block=last) for text in found)
    if case.state.layout.several and "group" in case.facts:
        seen += f", in group {case.facts['group']} ({case.group})"
    return seen, expected


_BLOCKS = frozenset({"block", "id", "source", "old", "head", "behind", "forgotten"})
"""The facts that are blocks."""

_DOES: Mapping[type, str] = MappingProxyType(
    {
        ev.Reject: "is rejected",
        ev.Start: "starts",
        ev.Reserve: "grows",
        ev.Compute: "is scheduled",
        ev.Waste: "is scheduled",
        ev.Remap: "is remapped",
        ev.Fork: "is forked",
        ev.Sample: "samples",
        ev.Preempt: "is preempted",
        ev.SwapOut: "is preempted",
        ev.SwapIn: "is swapped in",
        ev.Finish: "finishes",
        ev.Abort: "is aborted",
    }
)


_NOT_FULL = "the index names block {block}, which is not full of computed tokens"
_NO_BLOCK = "ids 0 to {last_block}"

_WORDS: Mapping[tuple[Rule, str], Words | Callable[[Case], Words]] = MappingProxyType(
    {
        (r.ONE_QUEUE, "phase"): ("{request} {does} while it is {phase}", "it is {wanted}"),
        (r.ONE_QUEUE, "left"): ("{request} {does} after it has left", "it is waiting or running"),
        (r.ONE_QUEUE, "twice"): ("{request} is scheduled twice in one step", "once"),
        (r.ONE_QUEUE, "at once"): (
            "{request} starts in the step that preempts it",
            "a victim waits for the next step",
        ),
        (r.ONE_QUEUE, "between"): (
            "{request} is preempted between two plans, while a step is planned with {planned}",
            "between two plans nobody is scheduled",
        ),
        (r.ONE_QUEUE, "victim"): ("{request} is scheduled and preempted in one step", "one of the two"),
        (r.ONE_QUEUE, "queues"): ("{request} stands {times} times in the queues", "once"),
        (r.ONE_QUEUE, "gone"): ("{request} stands in a queue after it has left", "it is in none"),
        (r.ONE_QUEUE, "no queue"): ("{request} is in no queue", "a live request is in one"),
        (r.FCFS_ORDER, "overtakes"): ("{request} starts before {first}", "{first} comes first"),
        (r.STEP_BUDGET, "requests"): ("{running} requests run in one step", "at most {most}"),
        (r.STEP_BUDGET, "none"): ("{request} is scheduled for {count} tokens", "at least 1"),
        (r.STEP_BUDGET, "tokens"): ("the step schedules {total} tokens", "at most the budget of {most}"),
        (r.PROGRESS_OR_REJECT, "fits"): (
            "{request} is rejected although its {limit} tokens fit into {usable} blocks",
            "only what can never fit is rejected",
        ),
        (r.PROGRESS_OR_REJECT, "idle"): (
            "nothing is computed, freed or rejected while {waiting} wait",
            "a step computes a token, frees a block or rejects a request",
        ),
        (r.BOUNDED_DECODE_GAP, "skipped"): (
            "{request} runs, fits, and is not scheduled with {left} tokens of budget left",
            "a running request that fits is scheduled",
        ),
        (r.CHUNK_INDEPENDENCE, "past"): (
            "{request} computes up to position {last} of {total} tokens",
            "no position past its tokens",
        ),
        (r.CHUNK_INDEPENDENCE, "continues"): (
            "{request} computes from position {start} on with {computed} computed",
            "it continues at position {computed}",
        ),
        (r.CHUNK_INDEPENDENCE, "wasted"): (
            "{request} goes on after {wasted} positions were computed for nobody",
            "it starts anew, or leaves",
        ),
        (r.CHUNK_INDEPENDENCE, "left"): (
            "{request} computes positions for nobody with {computed} of {total} tokens computed",
            "its tokens are computed first",
        ),
        (r.CHUNK_INDEPENDENCE, "fed"): ("{request} feeds the tokens {fed} from position {start} on", "{own}"),
        (r.CHUNK_INDEPENDENCE, "sampled"): (
            "{request} samples with {computed} of {total} tokens computed",
            "a token is sampled when all tokens before it are computed",
        ),
        (r.CHUNK_INDEPENDENCE, "again"): (
            "{request} samples again with all its {most} new tokens",
            "it has finished",
        ),
        (r.CHUNK_INDEPENDENCE, "finished"): (
            "{request} finishes with {generated} of {most} new tokens",
            "no token is lost",
        ),
        (r.COVERAGE_AND_LIMIT, "short"): (
            "{request} has {length} blocks of {size} for {end} tokens",
            "a slot for each",
        ),
        (r.COVERAGE_AND_LIMIT, "limit"): ("{request} owns {length} blocks", "at most {most}, which its limit needs"),
        (r.COVERAGE_AND_LIMIT, "fork"): (
            "the fork {request} has {length} blocks, its parent {wanted}",
            "a fork has a slot for every computed position",
        ),
        (r.COVERAGE_AND_LIMIT, "fork entry"): (
            "of the fork {request} and its parent one has a block for entry {index} and one has none",
            "a fork has what its queries read of what its parent has, and no more",
        ),
        (r.COVERAGE_AND_LIMIT, "no slot"): (
            "{request} computes position {position}, for which there is no block",
            "a slot for what it writes",
        ),
        (r.COVERAGE_AND_LIMIT, "slots"): (
            "{request} computes {count} positions and writes {slots} slots",
            "one slot for each position",
        ),
        (r.COVERAGE_AND_LIMIT, "slot"): (
            "{request} writes position {position} to block {id} slot {slot}",
            "a slot of blocks of {size}",
        ),
        (r.ONE_PAGE_ROUNDING, "spare"): ("{request} owns {length} blocks for {end} tokens", "{most}"),
        (r.NO_DANGLING_REFERENCE, "moved"): ("{request}'s table is {table}", "it begins with its blocks {own}"),
        (r.NO_DANGLING_REFERENCE, "source"): (
            "{request} copies from block {source} at entry {index}",
            "its table is {own}",
        ),
        (r.NO_DANGLING_REFERENCE, "entry"): (
            "entry {index} of {request}'s table {own} moves",
            "one of its {whole} whole blocks",
        ),
        (r.NO_DANGLING_REFERENCE, "remapped"): (
            "entry {index} of {request}'s table changes from block {old} to {block}",
            "a running request keeps its blocks (the engine does not declare that it merges duplicates)",
        ),
        (r.NO_DANGLING_REFERENCE, "released"): (
            "the blocks of {request} are given back while it is {phase}",
            "it keeps its blocks",
        ),
        (r.NO_DANGLING_REFERENCE, "taken"): ("{request} receives block {id}", _NO_BLOCK),
        (r.NO_DANGLING_REFERENCE, "hit"): ("a hit names block {id}", _NO_BLOCK),
        (r.NO_DANGLING_REFERENCE, "unread"): ("a hit names block {id}", _NO_BLOCK),
        (r.NO_DANGLING_REFERENCE, "unknown"): ("block {block} {where}", _NO_BLOCK),
        (r.NO_DANGLING_REFERENCE, "free"): sentences.held_free,
        (r.NO_DANGLING_REFERENCE, "table"): ("the table of {request} is {table}", "{own}"),
        (r.FAILURE_IS_ATOMIC, "stranger's table"): (
            "{request}, which was never added, has the table {table}",
            "a refused request leaves nothing",
        ),
        (r.FAILURE_IS_ATOMIC, "stranger"): (
            "{request}, which was never added, stands in a queue",
            "a refused request leaves nothing",
        ),
        (r.FAILURE_IS_ATOMIC, "reset"): (
            "the index forgets block {forgotten} in a reset that is refused",
            "it is as it was",
        ),
        (r.FIT_AGREES_WITH_ALLOCATE, "fits"): (
            "{request} is refused {need} blocks while {free} are free",
            "what fits is given",
        ),
        (r.RESERVED_BLOCK, "taken"): ("{request} receives the reserved block {block}", "it is never handed out"),
        (r.RESERVED_BLOCK, "free"): ("the reserved block {block} is in the free set", "never"),
        (r.CONSERVATION, "taken"): sentences.taken,
        (r.CONSERVATION, "twice"): ("a hit of {request} names block {block} twice", "once"),
        (r.CONSERVATION, "owner"): (
            "{request} shares block {block}, which is one of group {owner}",
            "a block belongs to one group",
        ),
        (r.CONSERVATION, "free"): sentences.counted_free,
        (r.COUNT_EQUALS_HOLDERS, "free"): sentences.counted_free,
        (r.COUNT_EQUALS_HOLDERS, "refs"): ("block {block} counts {counted} references", "its {held} holders"),
        (r.COUNT_EQUALS_HOLDERS, "twice free"): ("block {block} is in the free set {times} times", "once"),
        (r.CONTIGUOUS_CHAIN, "evicted"): (
            "block {block} is evicted before block {behind} behind it in its chain",
            "tails go first",
        ),
        (r.CONTIGUOUS_CHAIN, "whole"): (
            "a hit of {hit} tokens in {blocks} blocks of {size}",
            "whole blocks, one per block size",
        ),
        (r.LRU_ORDER, "taken"): ("block {block} is taken", "block {head}, released longest ago"),
        (r.ONE_TOKEN_LEFT, "all"): (
            "{request} hits {hit} of its {tokens} tokens and has none left to compute",
            "a hit of at most {most}",
        ),
        (r.IN_FLIGHT_FENCE, "taken"): sentences.touched,
        (r.IN_FLIGHT_FENCE, "free"): sentences.fenced_free,
        (r.IN_FLIGHT_FENCE, "computes"): (
            "{request} computes while transfer {transfer} still brings its blocks back",
            "the transfer is done first",
        ),
        (r.IN_FLIGHT_FENCE, "arriving"): (
            "{request} reads block {block}, which transfer {transfer} still brings",
            "the transfer is done first",
        ),
        (r.IN_FLIGHT_FENCE, "written"): (
            "a transfer for {request} reads block {block}, which step {step} still writes",
            "the step is complete first (the engine does not declare that transfers wait for it)",
        ),
        (r.IN_FLIGHT_FENCE, "both ways"): (
            "{request} is swapped in while it is still being swapped out",
            "the earlier transfer is done",
        ),
        (r.IN_FLIGHT_FENCE, "unread"): (
            "{request} shares block {block}, which transfer {transfer} still brings",
            "a block whose content is there",
        ),
        (r.IN_FLIGHT_FENCE, "hit"): (
            "{request} hits block {block}, which transfer {transfer} still brings",
            "a hit only on blocks whose content is there",
        ),
        (r.INVALIDATE, "copied"): (
            "{request} copies block {block}, written by a failed step",
            "what a failed step wrote is used no more",
        ),
        (r.INVALIDATE, "failed"): ("{request} hits block {block}, written by a failed step", "a miss"),
        (r.INVALIDATE, "reset"): ("{request} hits block {block}, cached before the reset", "a miss after a reset"),
        (r.INVALIDATE, "indexed"): (_NOT_FULL, "what a failed step wrote leaves the index"),
        (r.PUBLISH_ONLY_COMPUTED, "indexed"): (_NOT_FULL, "only computed blocks enter the index"),
        (r.PUBLISH_ONLY_COMPUTED, "unfinished"): (
            "{request} hits block {block}, which {writer} computes in a step that is not finished",
            "a hit only on blocks of finished steps (the engine does not declare publish at schedule)",
        ),
        (r.PUBLISH_ONLY_COMPUTED, "unread"): (
            "{request} shares block {block}, to which {other} is still to write",
            "a block of computed tokens",
        ),
        (r.EVERY_GROUP_HIT, "trimmed"): (
            "{request} gives back entry {index}, block {block}, while its query at position {position} is in flight or "
            "still to come",
            "entries from {kept} on are kept",
        ),
        (r.EVERY_GROUP_HIT, "empty"): (
            "the hit of {request} has no block for entry {index}",
            "every group can go on from the hit",
        ),
        (r.EVERY_GROUP_HIT, "lacks"): (
            "{request} reads entry {index}, where it holds nothing",
            "what a query reads is held",
        ),
        (r.EVERY_GROUP_HIT, "brought"): (
            "{request} is swapped in without a block for entry {index}",
            "what its next query reads comes back",
        ),
        (r.DRAFT_GROUP_HIT, "brought"): (
            "{request} is swapped in without a block for entry {index} of the drafter",
            "what its next query reads comes back",
        ),
        (r.DRAFT_GROUP_HIT, "empty"): (
            "the hit of {request} has no block for entry {index} of the drafter",
            "every group can go on from the hit",
        ),
        (r.DRAFT_GROUP_HIT, "lacks"): (
            "{request} reads entry {index} of the drafter, where it holds nothing",
            "what a query reads is held",
        ),
        (r.DRAFT_GROUP_HIT, "read"): sentences.read,
        (r.DRAFT_GROUP_HIT, "hit"): sentences.wrong_hit,
        (r.LONGEST_GROUP_HIT, "longest"): (
            "{request} hits {hit} tokens while every group holds what a hit of {longest} needs",
            "a hit of {longest}",
        ),
        (r.ISOLATION, "hit"): sentences.salted,
        (r.SHARED_BYTES_NEVER_CHANGE, "written"): sentences.written,
        (r.SHARED_BYTES_NEVER_CHANGE, "read"): sentences.read,
        (r.SHARED_BYTES_NEVER_CHANGE, "copied"): (
            "block {source} has {valid} valid tokens, and {extent} are copied to block {block}",
            "at least the valid extent is copied, and at most the {size} tokens of a block",
        ),
        (r.CONTENT_MATCHES_KEY, "hit"): sentences.wrong_hit,
        (r.COUNTERS, "among"): ("{hits} hits of {queries} queried tokens", "0 <= hits <= queries"),
        (r.COUNTERS, "shrink"): (
            "the counters go from {before_hits} of {before_queries} to {hits} of {queries}",
            "they only grow",
        ),
        (r.COUNTERS, "hits"): sentences.counted_hits,
    }
)
"""By the rule of a guard and its name."""

_RENAMED: Mapping[tuple[Rule, str, Rule], Words | Callable[[Case], Words]] = MappingProxyType(
    {
        (r.CHUNK_INDEPENDENCE, "past", r.FRESH_HIT): sentences.past_a_hit,
        (r.PUBLISH_ONLY_COMPUTED, "indexed", r.CONTENT_MATCHES_KEY): (_NOT_FULL, "a reassigned block leaves the index"),
    }
)
"""Words of their own, by the rule of a guard, its name, and the rule that blame gives to it."""
