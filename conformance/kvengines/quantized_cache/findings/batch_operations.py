"""transformers 5.24.0, QuantizedCache, `quant/commutes`: two batch operations forget what is quantized.

`batch_repeat_interleave` and `batch_select_indices` are inherited from the unquantized layer and touch only the
unquantized remainder, which is empty after a prompt. With `quanto` as its argument it shows that backend too, for which
C++ is compiled for a minute.
"""

import sys

import torch
from transformers import LlamaConfig, QuantizedCache, __version__

config = LlamaConfig(num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, hidden_size=64, head_dim=64)
options = {"hqq": {"nbits": 4, "axis_key": 1, "axis_value": 1}, "quanto": {"nbits": 4, "axis_key": 0, "axis_value": 0}}
failed = []
for backend in sys.argv[1:] or ("fp8", "hqq"):
    for name, argument, batch in (("batch_repeat_interleave", 2, 4), ("batch_select_indices", torch.tensor([1]), 1)):
        cache = QuantizedCache(backend, config, **options.get(backend, {}))
        cache.update(torch.randn(2, 1, 4, 64), torch.randn(2, 1, 4, 64), 0)
        try:
            getattr(cache, name)(argument)
            cache.update(torch.randn(batch, 1, 1, 64), torch.randn(batch, 1, 1, 64), 0)
        except (RuntimeError, IndexError) as error:
            failed.append(f"{backend} {name}: {type(error).__name__}: {error}")
print(f"transformers {__version__}", *failed, sep="\n")
raise SystemExit(bool(failed))
