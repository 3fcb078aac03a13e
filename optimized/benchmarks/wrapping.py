"""What wrapping the kernel of somebody else takes: what a problem asks for, in the words of others."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch

from benchmarks.ours import Calls
from benchmarks.problems import STATIC_SCALE, Problem
from kvoptimized.cache import HEAD_MAJOR

Contender = Callable[[Problem], Calls]


class NotThere(Exception):
    """Not installed, or it has no such operation; the message says which."""


def plain_or_fp8(problem: Problem) -> bool:
    """Whether the cache is fp8; one that is neither plain nor fp8 is refused."""
    require(problem.shape.format in ("bf16", "e4m3"), "bf16, or fp8 with static scales")
    return problem.shape.format == "e4m3"


def eight_bits(query: torch.Tensor) -> torch.Tensor:
    """Queries in e4m3, which lose nothing: those of a problem in e4m3 were drawn from its numbers."""
    return query.to(torch.float8_e4m3fn)


def descales(problem: Problem) -> dict[str, torch.Tensor]:
    """Scales of an fp8 cache and of its queries, fp32 `[requests, kv_heads]`; nothing for others."""
    if problem.shape.format != "e4m3":
        return {}
    shape, device = (len(problem.shape.requests), problem.shape.heads.kv), problem.cache.device
    given = {"q_descale": 1.0, "k_descale": STATIC_SCALE, "v_descale": STATIC_SCALE}
    return {name: torch.full(shape, scale, device=device) for name, scale in given.items()}


def token_major(problem: Problem, pages: torch.Tensor) -> torch.Tensor:
    """Others take `[num_blocks, block_size, kv_heads, head_dim]`, dense: for them blocks are stored once more."""
    return pages.transpose(1, 2).contiguous() if problem.cache.layout == HEAD_MAJOR else pages


def maxima(problem: Problem) -> tuple[int, int]:
    """The longest request and the most rows of one."""
    return max(tokens for tokens, _ in problem.shape.requests), max(rows for _, rows in problem.shape.requests)


def imported(name: str) -> Any:
    """The module. Raises `NotThere`."""
    try:
        return import_module(name)
    except Exception as error:  # a package for another version fails in its own ways
        raise NotThere(f"not installed ({type(error).__name__})") from error


def require(possible: bool, why: str) -> None:
    """Raise `NotThere` with the reason unless it is possible."""
    if not possible:
        raise NotThere(why)
