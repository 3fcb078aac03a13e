"""The time of one call on a GPU: CUDA graphs of calls over rotating data, replayed, and the median taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import torch

Call = Callable[[], object]
GRAPH_SECONDS = 2e-3
"""A graph repeats its calls until it lasts about so long: events resolve half a microsecond."""
REPLAYS = 25
COPIED = 1 << 30


def seconds_per_call(calls: Sequence[Call]) -> float:
    """The median over replays of a graph that makes all `calls`, each on data of its own, in turn.

    Calls must neither wait for the device nor build anything when they are made a second time.
    """
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
        stream.synchronize()
        once = _events(lambda: [call() for call in calls], stream)
        rounds = max(1, min(64, int(GRAPH_SECONDS / max(once, 1e-6))))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(rounds):
                for call in calls:
                    call()
        graph.replay()
        stream.synchronize()
        times = [_events(graph.replay, stream) for _ in range(REPLAYS)]
    return median(times) / (rounds * len(calls))


def _events(work: Call, stream: torch.cuda.Stream) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record(stream)
    work()
    end.record(stream)
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3


def copy_bandwidth(device: torch.device) -> float:
    """Bytes per second, read and written, of torch's copy of a gigabyte: what this card can move."""
    source, target = (torch.empty(COPIED, dtype=torch.uint8, device=device) for _ in range(2))
    return 2 * COPIED / seconds_per_call([lambda: target.copy_(source)])


def cold_bytes(device: torch.device) -> int:
    """The size of the level-2 cache."""
    return int(torch.cuda.get_device_properties(device).L2_cache_size)
