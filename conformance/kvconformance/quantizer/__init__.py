"""The surface Quantizer: keys or values in, codes and scales out, and back.

`surface` is what a third party writes, `recipes` the numbers of an operation, `expected` what the scheme says of them,
`judge` the comparison of one encoding, `blocks` and `sequences` the two kinds of quantized cache, `driver` the road
through a history, and `strategies` the histories that the search tries.
"""

from kvconformance.quantizer.surface import (
    Declaration,
    Encoded,
    QuantizerCapabilities,
    QuantizerError,
    Setting,
    quantizer,
)

__all__ = ["Declaration", "Encoded", "QuantizerCapabilities", "QuantizerError", "Setting", "quantizer"]
