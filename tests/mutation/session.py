"""What became of the mutants, kept between runs: whoever was killed stays dead, survivors without an excuse do not."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import asdict
from pathlib import Path

from tests.mutation.mutants import Mutant
from tests.mutation.trying import Fate


class Session:
    """A file with one line for each mutant tried, named by the digest of its source."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        if fresh:
            path.unlink(missing_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.fates = {one.pop("mutant"): Fate(**one) for one in map(json.loads, lines)}

    def settled(self, mutant: Mutant, excused: Set[tuple[str, ...]]) -> bool:
        """Whether it was killed, or has survived and is listed as equivalent."""
        fate = self.fates.get(mutant.digest)
        return fate is not None and (fate.how != "survived" or mutant.key in excused)

    def record(self, mutant: Mutant, fate: Fate) -> None:
        """Write it down at once, so that an interrupted run goes on where it was."""
        self.fates[mutant.digest] = fate
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"mutant": mutant.digest, **asdict(fate)}) + "\n")
