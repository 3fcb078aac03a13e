"""transformers 5.24.0, QuantizedCache("fp8"), `quant/scale-from-valid-data`: the first scale clips later data."""

import torch
from transformers import LlamaConfig, QuantizedCache, __version__

config = LlamaConfig(num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, hidden_size=4, head_dim=4)
cache = QuantizedCache("fp8", config)
for magnitude in (1.0, 3.0):
    states = torch.full((1, 1, 1, 4), magnitude)
    keys, values = cache.update(states, states, 0)
print(f"transformers {__version__}: stored 1.0 and then 3.0, attention reads {keys[0, 0, :, 0].tolist()}")
raise SystemExit(float(keys[0, 0, 1, 0]) != 3.0)
