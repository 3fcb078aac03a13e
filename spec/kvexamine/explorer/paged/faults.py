"""Deliberate faults of the transition of the paged cache: a guard is taken away, or an effect spoiled."""

from __future__ import annotations

from kvexamine.explorer.paged import effects
from kvexamine.explorer.spoiling import Fault, compared, without
from kvexamine.explorer.transition import Transition
from kvspec import events as ev
from kvspec import rules


def _fault(name: str, says: str, transition: Transition, needs: str = "", scheduler: str = "") -> Fault:
    return Fault("paged", name, says, transition, needs, scheduler)


_LEAVING = (ev.Preempt, ev.Finish, ev.Abort)

FAULTS = (
    _fault("full-hit", "a hit on all tokens leaves none to compute", without(object, rules.ONE_TOKEN_LEFT)),
    _fault(
        "shared-write",
        "a shared block is written without a copy",
        without(object, rules.SHARED_BYTES_NEVER_CHANGE),
        "fork",
    ),
    _fault("held-block", "a block that somebody holds is handed out", without(object, rules.CONSERVATION)),
    _fault("over-budget", "a step computes more than its budget", without(object, rules.STEP_BUDGET)),
    _fault("empty-step", "a step ends in which nothing has happened", without(object, rules.PROGRESS_OR_REJECT)),
    _fault(
        "rejects-what-fits",
        "a request that fits is rejected",
        without(object, rules.PROGRESS_OR_REJECT),
        "reject",
    ),
    _fault(
        "early-finish",
        "a request finishes before it has all its tokens",
        without(object, rules.CHUNK_INDEPENDENCE, rules.RESUME_EQUALS_UNINTERRUPTED),
        "finish",
    ),
    _fault(
        "unfenced", "a block is taken while a step or a transfer may touch it", without(object, rules.IN_FLIGHT_FENCE)
    ),
    _fault(
        "unfinished-hit",
        "a hit on blocks of a step that is not finished",
        without(object, rules.PUBLISH_ONLY_COMPUTED),
        "fail",
    ),
    _fault("tenant-hit", "a hit on blocks of another tenant", without(object, rules.ISOLATION)),
    _fault(
        "refuses-what-fits",
        "blocks are refused that are free",
        without(object, rules.FIT_AGREES_WITH_ALLOCATE),
        "refuse",
    ),
    _fault(
        "block-too-many",
        "a table grows by more blocks than it needs",
        without(object, rules.ONE_PAGE_ROUNDING, rules.COVERAGE_AND_LIMIT),
    ),
    _fault(
        "block-too-few",
        "a table has no slot for what is computed, nor for what is read",
        without(object, rules.COVERAGE_AND_LIMIT, rules.EVERY_GROUP_HIT),
    ),
    _fault("overtaking", "a newcomer starts before an older one", without(object, rules.FCFS_ORDER)),
    _fault("forward-release", "blocks are released from the head of the table on", compared(_LEAVING, effects.forward)),
    _fault("unreferenced-hit", "a shared block is not counted", compared(ev.Start, effects.unreferenced)),
    _fault(
        "unreferenced-fork",
        "the blocks of a fork are not counted",
        compared(ev.Fork, effects.unreferenced),
        "fork",
    ),
    _fault(
        "hit-stays-idle", "a block that is hit stays in the order of eviction", compared(ev.Start, effects.stays_idle)
    ),
    _fault("evicted-key", "an evicted block keeps its key", compared(ev.Compute, effects.keeps_key)),
    _fault("half-published", "a block is keyed before it is full", compared(ev.Compute, effects.publishes_half)),
    _fault("hit-too-far", "a hit counts one token too many", compared(ev.Start, effects.hits_too_far)),
    _fault("next-slot", "what is computed goes into the next slot", compared(ev.Compute, effects.next_slot)),
    _fault(
        "copy-omitted",
        "a private block is taken and nothing copied",
        compared(ev.Copy, effects.copies_nothing),
        "copy",
    ),
    _fault("copy-short", "the last valid token is not copied", compared(ev.Copy, effects.copies_less), "copy"),
    _fault(
        "empty-fork",
        "the private block of a fork receives no copy",
        compared(ev.Fork, effects.forks_empty),
        "fork",
    ),
    _fault(
        "reset-keeps-keys",
        "the cache is reset and keeps its keys",
        compared(ev.Reset, effects.keeps_keys),
        "reset",
    ),
    _fault(
        "failed-keeps-keys",
        "blocks of a failed step stay keyed",
        compared(ev.FailStep, effects.keeps_keys),
        "fail",
    ),
    _fault("finish-leaks", "a finished request never gives its blocks back", compared(ev.Finish, effects.leaks)),
    _fault(
        "double-release",
        "an aborted request gives its blocks back twice",
        compared(ev.Abort, effects.twice),
        "abort",
    ),
    _fault(
        "victim-keeps-table",
        "a victim waits and keeps its table",
        compared(ev.Preempt, effects.keeps_table),
        "preempt",
    ),
    _fault(
        "victim-loses-tokens",
        "a victim forgets what it has sampled",
        compared(ev.Preempt, effects.loses_tokens),
        "preempt",
    ),
    _fault("budget-not-restored", "the next step begins with what was left", compared(ev.EndStep, effects.keeps_left)),
    _fault(
        "progress-forgotten",
        "what is computed does not count as progress",
        compared(ev.Compute, effects.forgets_progress),
    ),
    _fault(
        "swap-short",
        "the last slot is not copied to the host",
        compared(ev.SwapOut, effects.swaps_less),
        "swap",
    ),
    _fault(
        "fence-stays",
        "blocks stay fenced after their transfer",
        compared(ev.TransferDone, effects.stays_fenced),
        "swap",
    ),
    _fault(
        "oldest-victim",
        "the oldest request is preempted for a younger one",
        compared(ev.Add, effects.keeps_left),
        "preempt",
        "oldest",
    ),
)
