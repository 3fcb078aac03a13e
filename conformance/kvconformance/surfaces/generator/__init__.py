"""The surface Generator: a whole engine as a black box, prompts in and greedy tokens out."""

from kvconformance.surfaces.base import SurfaceKind
from kvconformance.surfaces.generator.driver import RAISES, GeneratorDriver
from kvconformance.surfaces.generator.operations import Generate
from kvconformance.surfaces.generator.strategies import generator_histories
from kvconformance.telling.story import PAGED
from kvspec.vocabulary import Surface

SURFACE = SurfaceKind(
    surface=Surface.GENERATOR,
    operations=(Generate,),
    required=("generate", "expected"),
    driver=GeneratorDriver,
    histories=generator_histories,
    raises=RAISES,
    story=PAGED,
)
