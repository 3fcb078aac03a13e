"""The surface Quantizer, whose room is `kvconformance.quantizer`."""

from kvconformance.checker import eventless
from kvconformance.quantizer.driver import RAISES, QuantizerDriver
from kvconformance.quantizer.strategies import quantizer_histories
from kvconformance.quantizer.surface import QuantizerCapabilities
from kvconformance.surfaces.base import SurfaceKind
from kvspec.vocabulary import Surface

SURFACE = SurfaceKind(
    surface=Surface.QUANTIZER,
    required=("encode", "decode"),
    driver=QuantizerDriver,
    histories=quantizer_histories,
    raises=RAISES,
    capabilities=QuantizerCapabilities,
    declares="a quantizer declares",
    machine=eventless,
    enough=400,
)
