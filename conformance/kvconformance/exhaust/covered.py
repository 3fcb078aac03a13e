"""How far the histories of one scope were played: plain data, told in reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kvspec.vocabulary import Surface


@dataclass(frozen=True)
class Covered:
    """One scope on one surface: every history of at most `depth` operations was played, `histories` in all.

    `complete` where that is as deep as was asked for; `longest` where longer histories do not exist at all. `skipped`
    says why the engine cannot be tried in the scope, reason by reason. `cut` histories ended at once, at a rule that is
    broken or is not claimed (those in `cut_at`), and were not extended. `options` are the values that the engine's own
    switches had.
    """

    scope: str
    surface: Surface
    histories: int = 0
    depth: int = 0
    complete: bool = False
    longest: int | None = None
    cut: int = 0
    broken: tuple[str, ...] = ()
    cut_at: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
