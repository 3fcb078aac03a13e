"""Engines that misbehave as strangers' engines do: they raise, hang, and kill their process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from typing import Any

from kvreference.scheduler import ReferenceStepper
from kvspec.plans import StepPlan
from kvspec.vocabulary import World


class Raising(ReferenceStepper):
    """Raises when a second request is waiting."""

    def plan(self) -> StepPlan:
        if len(self.tasks) > 1:
            raise RuntimeError("two are too many")
        return super().plan()


class Hanging(ReferenceStepper):
    """Loops for ever when a second request is waiting."""

    def plan(self) -> StepPlan:
        while len(self.tasks) > 1:
            time.sleep(0.01)
        return super().plan()


class HangingDeaf(ReferenceStepper):
    """Likewise, in native code that no Python signal handler interrupts."""

    def plan(self) -> StepPlan:
        if len(self.tasks) > 1:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            ctypes.PyDLL(None).sleep(3600)
        return super().plan()


class Exiting(ReferenceStepper):
    """Ends the process when a second request is waiting."""

    def plan(self) -> StepPlan:
        if len(self.tasks) > 1:
            os._exit(17)
        return super().plan()


class Littering(Exiting):
    """Makes a temporary folder each time that it is built, and another one in a process that it starts."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        tempfile.mkdtemp(prefix="litter-")
        make = "import tempfile; tempfile.mkdtemp(prefix='litter-')"
        if not type(self).started:
            type(self).started = True
            subprocess.run([sys.executable, "-c", make], check=True)

    started = False


class Crashing(ReferenceStepper):
    """Reads address zero when a second request is waiting."""

    def plan(self) -> StepPlan:
        if len(self.tasks) > 1:
            ctypes.string_at(0)
        return super().plan()


class Lying(ReferenceStepper):
    """Names a request that nobody added: the adapter's fault, not the engine's."""

    def plan(self) -> StepPlan:
        plan = super().plan()
        for scheduled in plan.scheduled:
            object.__setattr__(scheduled, "request", "nobody")
        return plan


class Wordy(ReferenceStepper):
    """Prints a lot, as engines do."""

    def plan(self) -> StepPlan:
        print("planning!" * 1000)
        return super().plan()


class Half:
    """No adapter: half of the methods are missing."""

    def add(self) -> None: ...
    def plan(self) -> None: ...
    def free_blocks(self) -> None: ...


class Silent(ReferenceStepper):
    """No adapter: declares nothing."""

    capabilities = None  # type: ignore[assignment]


class Boasting:
    """No adapter: declares forks and has none."""

    capabilities = ReferenceStepper.capabilities
    add = plan = complete = abort = free_blocks = reset = fail = transfer_done = lambda self: None


class Idle(ReferenceStepper):
    """Plans an empty step now and then, with work waiting and nothing in flight."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.plans = 0

    def plan(self) -> StepPlan:
        self.plans += 1
        return StepPlan() if self.plans % 3 == 0 else super().plan()


class Breaking(ReferenceStepper):
    """Counts a free block too few while two requests are there."""

    def free_blocks(self) -> int:
        return super().free_blocks() - (len(self.tasks) > 1)


class BreakingThenExiting(Breaking):
    """... and with blocks of one token it ends the process then."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.small = world.block_size == 1

    def free_blocks(self) -> int:
        if self.small and len(self.tasks) > 1:
            os._exit(17)
        return super().free_blocks()


class BreakingThenLying(BreakingThenExiting):
    """... and answers nonsense instead."""

    def free_blocks(self) -> int:
        answer: Any = "x" if self.small and len(self.tasks) > 1 else Breaking.free_blocks(self)
        return answer


class Optional(ReferenceStepper):
    """Has a switch of its own."""

    capabilities = replace(ReferenceStepper.capabilities, options={"chunk": (0, 4)})


class UsingTorch(ReferenceStepper):
    """Computes with all threads of torch in every step, as engines do."""

    def plan(self) -> StepPlan:
        import torch

        big = torch.ones(1 << 21)
        (big * big).sum()
        return super().plan()
