"""The surface Quantizer: keys or values in, codes and scales out, and back.

`protocol` is what a third party writes, `recipes` the numbers of an operation, `expected` what the scheme says of them,
`judge` the comparison of one encoding, `blocks` and `sequences` the two kinds of quantized cache, `driver` the road
through a history, and `strategies` the histories that the search tries.
"""

from types import MappingProxyType

from kvconformance.checker import eventless
from kvconformance.surfaces.base import SurfaceKind, Want
from kvconformance.surfaces.quantizer.driver import RAISES, QuantizerDriver
from kvconformance.surfaces.quantizer.operations import OPERATIONS
from kvconformance.surfaces.quantizer.protocol import (
    Array,
    Declaration,
    Encoded,
    QuantizerCapabilities,
    QuantizerError,
    Setting,
    Single,
    quantizer,
)
from kvconformance.surfaces.quantizer.strategies import quantizer_histories
from kvspec import rules
from kvspec.vocabulary import Surface

KEEPS: Want = ("keeps nothing: no blocks and no sequences", lambda c: c.blocks or c.sequences)

SURFACE = SurfaceKind(
    surface=Surface.QUANTIZER,
    operations=OPERATIONS,
    required=("encode", "decode"),
    driver=QuantizerDriver,
    histories=quantizer_histories,
    raises=RAISES,
    capabilities=QuantizerCapabilities,
    declares="a quantizer declares",
    wants=MappingProxyType(
        {
            rules.SCALE_TRAVELS: KEEPS,
            rules.COMMUTES: KEEPS,
            rules.ONE_SCALE: ("has neither codes nor scales to show", lambda c: c.shows),
        }
    ),
    machine=eventless,
    enough=400,
)

__all__ = [
    "SURFACE",
    "Array",
    "Declaration",
    "Encoded",
    "QuantizerCapabilities",
    "QuantizerError",
    "Setting",
    "Single",
    "quantizer",
]
