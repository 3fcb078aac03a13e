"""The surface Stepper: a scheduler with its cache, whose steps the harness computes."""

from dataclasses import replace
from types import MappingProxyType

from kvconformance.surfaces.base import SurfaceKind, Traffic
from kvconformance.surfaces.stepper.alphabet import LETTERS
from kvconformance.surfaces.stepper.driver import PERFORM, RAISES, StepperDriver
from kvconformance.surfaces.stepper.strategies import rarely, stepper_histories, usually
from kvconformance.telling.story import PAGED, stepped_world
from kvspec import rules
from kvspec.vocabulary import Surface

SURFACE = SurfaceKind(
    surface=Surface.STEPPER,
    operations=tuple(PERFORM),
    required=("add", "plan", "complete", "abort", "free_blocks"),
    driver=StepperDriver,
    histories=stepper_histories,
    raises=RAISES,
    needs=MappingProxyType(
        {rules.COUNTERS: "counters", rules.MIRROR_EQUALS_INDEX: "take_events", rules.FAILURE_IS_ATOMIC: "fork"}
    ),
    wants=MappingProxyType(
        {
            rules.EVERY_GROUP_HIT: ("has one group of layers", lambda c: c.options.get("groups")),
            rules.DRAFT_GROUP_HIT: ("has no draft group", lambda c: "draft" in str(c.options.get("groups"))),
        }
    ),
    story=replace(PAGED, world=stepped_world),
    traffic=Traffic(usually, rarely),
    letters=LETTERS,
)
