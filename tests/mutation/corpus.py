"""Histories made once, with seeds, and replayed against every mutant.

The honest ones must be allowed; the history that kills an imposter must still kill it, by the same rule. To replay a
history costs a tenth of making it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase

from kvconformance.claims import claimed
from kvconformance.history import History
from kvconformance.imposters import IMPOSTERS, Imposter, waiting
from kvconformance.imposters.registry import surface_of
from kvconformance.imposters.trial import judges
from kvconformance.search.examples import Plan, search
from kvconformance.surfaces import Engine
from kvconformance.surfaces.registry import histories
from kvreference.contiguous import ContiguousPool
from kvreference.groups import ReferenceGroups
from kvreference.pool import ReferencePool
from kvreference.publishing import PublishingPool
from kvreference.radix_publishing import PublishingTree
from kvreference.scheduler import ReferenceStepper
from kvspec.rules import REPRODUCIBLE_KEY
from kvspec.vocabulary import Surface
from tests.mutation.mutants import ROOT

SEED = 20
EXAMPLES = {
    "ReferencePool": 200,
    "ReferenceStepper": 300,
    "ContiguousPool": 50,
    "DecodeFirst": 50,
    "PublishingPool": 50,
    "ReferenceGroups": 200,
    "PublishingTree": 200,
}


class DecodeFirst(ReferenceStepper):
    """The reference as an engine that declares that running requests go first."""

    capabilities = waiting.DECODE_FIRST


HONEST: dict[str, tuple[Surface, Any]] = {
    "ReferencePool": (Surface.POOL, ReferencePool),
    "ReferenceStepper": (Surface.STEPPER, ReferenceStepper),
    "ContiguousPool": (Surface.POOL, ContiguousPool),
    "DecodeFirst": (Surface.STEPPER, DecodeFirst),
    "PublishingPool": (Surface.POOL, PublishingPool),
    "ReferenceGroups": (Surface.GROUPS, ReferenceGroups),
    "PublishingTree": (Surface.TREE, PublishingTree),
}
SURFACES = (Surface.POOL, Surface.STEPPER, Surface.GROUPS, Surface.TREE)


class Corpus(msgspec.Struct):
    """`honest`: what each engine lives through, by its name. `fatal`: what kills each imposter, and by which rule.

    Histories are as they are written: the record of their surface reads them.
    """

    honest: dict[str, list[msgspec.Raw]]
    fatal: dict[str, tuple[str, msgspec.Raw]]


def load(folder: Path, say: Callable[[str], None]) -> Path:
    """The file of the corpus for the code as it is; made if it is not there."""
    path = folder / f"corpus-{_stamp()}.json"
    if not path.exists():
        say("making the histories (once for these sources, a minute or two) ...")
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(Corpus(_honest(), dict(_fatal()))))
    return path


def read(path: Path) -> Corpus:
    """The corpus in a file."""
    return msgspec.json.decode(path.read_bytes(), type=Corpus)


def _honest() -> dict[str, list[msgspec.Raw]]:
    return {name: _generate(*HONEST[name], EXAMPLES[name]) for name in HONEST}


def _generate(surface: Surface, engine: Any, examples: int) -> list[msgspec.Raw]:
    made: list[msgspec.Raw] = []
    settings = hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )

    def keep(history: History) -> None:
        made.append(msgspec.Raw(history.to_json()))

    strategy = histories(surface, engine.capabilities)
    hypothesis.seed(SEED)(settings(hypothesis.given(strategy)(keep)))()
    return made


def _fatal() -> Iterator[tuple[str, tuple[str, msgspec.Raw]]]:
    for imposter in IMPOSTERS:
        if surface_of(imposter) in SURFACES and imposter.broken_rule is not REPRODUCIBLE_KEY:
            yield imposter.__name__, _killed(imposter)


def _killed(imposter: Imposter) -> tuple[str, msgspec.Raw]:
    """The rule and the first history by which the search kills it."""
    surface = surface_of(imposter)
    engine = Engine(imposter.__name__, "imposter", {surface: imposter})
    for seed in range(1, 9):
        plan = Plan(1_000, seed, 600.0, 0.0, rules=judges(imposter.broken_rule), first_only=True)
        if found := search(engine, surface, plan, claimed(engine, surface)).found:
            return found[0].rule.id, msgspec.Raw(found[0].trial.history.to_json())
    raise SystemExit(f"the suite does not kill the imposter {imposter.__name__}")


def _stamp() -> str:
    """A name for all that the histories depend on."""
    folders = ("spec", "reference", "conformance")
    sources = sorted(path for folder in folders for path in ROOT.glob(f"{folder}/**/*.py"))
    parts = (repr((SEED, EXAMPLES)).encode(), *(path.read_bytes() for path in sources))
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]
