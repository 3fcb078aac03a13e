"""torchao 0.18.0, `quant/half-step`: with groups of one element `choose_qparams_affine` takes one scale for all.

A reduction over no axis is, in torch, one over all of them.
"""

from importlib.metadata import version

import torch
from torchao.quantization.quant_primitives import MappingType, choose_qparams_affine, quantize_affine

x, block = torch.tensor([[1.0], [100.0]]), (1, 1)
scale, zero = choose_qparams_affine(x, MappingType.SYMMETRIC, block, torch.int8)
print(f"torchao {version('torchao')}: {x.numel()} groups of one element, {scale.numel()} scale")
try:
    quantize_affine(x, block, scale, zero, torch.int8)
except RuntimeError as error:
    print(error)
raise SystemExit(scale.numel() != x.numel())
