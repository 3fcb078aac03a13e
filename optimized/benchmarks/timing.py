"""The time of one call on a GPU: Triton's own benchmark, in CUDA graphs where they can be had, over rotating data."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle

import torch
from triton import testing

Call = Callable[[], object]
REPEAT_MS = 40
"""How long a graph lasts, as Triton guesses it.

Triton makes five rounds without a graph, and captures as many as fit by their time. Calls of 300 us are limited by the
GPU: the graph lasts 40 ms, and it is replayed ten times. Calls of 5 us are limited by Python: if a call took 100 us
there, the graph would last a twentieth, 2 ms, and a start of it of 10 us would be half a percent. With Triton's own 20
ms it would be one percent, so they are doubled; ten times as many would cost five seconds for each cell of long calls.
"""
COPIED = 1 << 30


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one call, and whether they were measured in a graph: without one, launching may be in them."""

    seconds: float
    graph: bool = True

    def __str__(self) -> str:
        return f"{self.seconds * 1e6:.1f}" + ("" if self.graph else ", no graph")


def seconds_per_call(calls: Sequence[Call]) -> Timed:
    """The median time of `calls`, each on data of its own, made in turn.

    A call that cannot be captured, because it waits for the device or builds something, is timed without a graph and
    with a level-2 cache that is flushed before it. Raises whatever a call raises that cannot be made at all.
    """

    def rotation() -> None:
        for call in calls:
            call()

    torch.cuda.synchronize()  # the benchmark runs in a stream of its own, which does not wait for what fills the data
    try:
        with _no_collection():
            milliseconds = testing.do_bench_cudagraph(rotation, rep=REPEAT_MS, return_mode="median")
        return Timed(milliseconds / 1e3 / len(calls))
    except Exception:  # a stranger's kernel says in its own way that it cannot be captured
        torch.cuda.synchronize()
        turns = cycle(calls)

        def turn() -> None:
            next(turns)()

        return Timed(testing.do_bench(turn, return_mode="median") / 1e3, graph=False)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector: a kernel unloaded during a capture spoils the graph (Triton 3.6 leaves it on)."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def copy_bandwidth(device: torch.device) -> float:
    """Bytes per second, read and written, of torch's copy of a gigabyte: what this card can move."""
    source, target = (torch.empty(COPIED, dtype=torch.uint8, device=device) for _ in range(2))
    return 2 * COPIED / seconds_per_call([lambda: target.copy_(source)]).seconds


def cold_bytes(device: torch.device) -> int:
    """The size of the level-2 cache."""
    return int(torch.cuda.get_device_properties(device).L2_cache_size)
