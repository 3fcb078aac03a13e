"""hqq 0.2.8.post1, `quant/scale-from-valid-data`: a guard floors ordinary scales at 5e-5, or sets them to 1.

Groups whose range is below 1e-4 get scale 1 and decode to their minimum; up to 255 / 2e4 = 0.013 (8 bits) they get
5e-5 however small they are.
"""

from importlib.metadata import version

import torch
from hqq.core.quantize import Quantizer

torch.manual_seed(0)
lost = []
for magnitude in (1.0, 1e-3, 1e-5):
    x = torch.randn(2, 64) * magnitude
    codes, meta = Quantizer.quantize(x, nbits=8, group_size=64, axis=1, device="cpu", compute_dtype=torch.float32)
    meta["compute_dtype"] = torch.float32
    error = float((Quantizer.dequantize(codes, meta) - x).norm() / x.norm())
    ideal = float((x.amax(1) - x.amin(1)).max() / 255)
    scale = float(meta["scale"][0])
    print(f"hqq {version('hqq')}: magnitude {magnitude:g}: scale {scale:.3g}, ideal {ideal:.3g}, error {error:.1%}")
    lost.append(error > 0.01)
raise SystemExit(any(lost))
