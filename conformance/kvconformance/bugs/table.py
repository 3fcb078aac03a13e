"""The table of public bugs, read from the file beside this module."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from enum import Enum
from importlib import resources
from typing import Final

from kvspec.rules import Rule, find

COLUMNS: Final = ("id", "project", "address", "rules", "cause", "imposters", "controls", "why", "reason")


class Why(Enum):
    """Why no imposter imitates a bug."""

    NOT_KNOWN = "cause not known"
    OUTSIDE = "outside the surfaces"
    DRIFT = "drift, not a fault"


@dataclass(frozen=True)
class Bug:
    """One public bug. `rules` begins with the rule that it breaks; others are those that an imposter of it breaks.

    `imposters` and `controls` are class names; `why` and `reason` are there where no imposter is.
    """

    id: str
    project: str
    address: str
    rules: tuple[Rule, ...]
    cause: str
    imposters: tuple[str, ...]
    controls: tuple[str, ...]
    why: Why | None
    reason: str

    @property
    def reference(self) -> str:
        """How an imposter cites it, such as "vLLM #4764"."""
        return f"{self.project} #{self.address.rsplit('/', 1)[-1]}"


def read(text: str) -> tuple[Bug, ...]:
    """The bugs of a table. Raises `ValueError` that names the line and what is wrong with it."""
    rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    if (header := tuple(next(rows, ()))) != COLUMNS:
        raise ValueError(f"the columns are {', '.join(header)}, not {', '.join(COLUMNS)}")
    return tuple(_bug(number, row) for number, row in enumerate(rows, 2))


def _bug(number: int, row: list[str]) -> Bug:
    try:
        id, project, address, rules, cause, imposters, controls, why, reason = row
        return Bug(
            id,
            project,
            address,
            tuple(find(rule) for rule in rules.split()),
            cause,
            tuple(imposters.split()),
            tuple(controls.split()),
            Why(why) if why else None,
            reason,
        )
    except (KeyError, ValueError) as error:
        raise ValueError(f"line {number} of the table of bugs: {error.args[0]}") from error


BUGS: Final[tuple[Bug, ...]] = read(resources.files(__package__).joinpath("bugs.tsv").read_text("utf-8"))
