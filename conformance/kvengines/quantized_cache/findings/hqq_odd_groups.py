"""transformers 5.24.0, QuantizedCache("hqq", nbits=4), `quant/half-step`: an odd number of groups raises.

Groups are 64 consecutive numbers of keys, so there are KV heads x tokens x head dim / 64 of them.

hqq 0.2.8.post1 packs the first half of the groups with the second half, and does not ask whether there are two halves.
A model with 3 KV heads of 64 channels (SmolLM2-135M) fails at every prompt of odd length, multi-query attention too.
"""

import torch
from transformers import LlamaConfig, QuantizedCache, __version__

failed = []
for kv_heads, tokens in ((2, 5), (3, 4), (3, 5), (1, 7)):
    config = LlamaConfig(
        num_hidden_layers=1, num_attention_heads=kv_heads, num_key_value_heads=kv_heads, hidden_size=64 * kv_heads
    )
    cache = QuantizedCache("hqq", config, nbits=4, axis_key=1, axis_value=1)
    try:
        for count in (tokens, 1):
            states = torch.randn(1, kv_heads, count, 64)
            cache.update(states, states, 0)
    except RuntimeError as error:
        failed.append(f"{kv_heads} KV heads, prompt of {tokens}: {error}")
print(f"transformers {__version__}", *failed, sep="\n")
raise SystemExit(bool(failed))
