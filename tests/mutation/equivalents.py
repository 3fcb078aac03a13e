"""The list of mutants that nothing can tell from the original, each with the reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from tests.mutation.mutants import Mutant

PATH = Path(__file__).parent / "equivalent.toml"


@dataclass(frozen=True)
class Equivalent:
    """A mutant by its module, function, operator and changed lines, and why it changes nothing that can be seen."""

    module: str
    function: str
    operator: str
    before: str
    after: str
    why: str

    @property
    def key(self) -> tuple[str, ...]:
        """That of the mutant."""
        return (self.module, self.function, self.operator, self.before, self.after)


def load(path: Path = PATH) -> dict[tuple[str, ...], Equivalent]:
    """All entries by their keys. Raises `ValueError` for one that is incomplete, without a reason, or there twice."""
    entries: dict[tuple[str, ...], Equivalent] = {}
    for raw in tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []):
        if set(raw) != {field.name for field in fields(Equivalent)} or not all(
            str(part).strip() for part in raw.values()
        ):
            raise ValueError(f"an entry lacks something: {raw}")
        entry = Equivalent(**raw)
        if entry.key in entries:
            raise ValueError(f"an entry is there twice: {raw}")
        entries[entry.key] = entry
    return entries


def entry_for(mutant: Mutant, why: str = "") -> str:
    """The mutant as an entry of the file."""
    parts = (mutant.module, mutant.function, mutant.operator, mutant.before, mutant.after, why)
    lines = (f"{field.name} = {_quoted(part)}" for field, part in zip(fields(Equivalent), parts, strict=True))
    return "[[equivalent]]\n" + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return f"'{text}'" if "'" not in text else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
