"""gguf 0.19.0, `quant/scale-from-valid-data`: beyond 127 * 65504 the fp16 scale of Q8_0 is infinite, silently.

Q4_0, Q4_1 and Q5_0 overflow likewise, at their own multiples of 65504.
"""

from importlib.metadata import version

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

x = np.full((1, 32), 1e8, np.float32)
read = dequantize(quantize(x, GGMLQuantizationType.Q8_0), GGMLQuantizationType.Q8_0)
print(f"gguf {version('gguf')}: stored {x[0, 0]:g}, read {read[0, 0]:g}")
raise SystemExit(not np.isfinite(read).all())
