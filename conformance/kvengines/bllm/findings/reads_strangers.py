"""bllm-inference 0.1.0, `sched/chunk-independence`, on the whole engine: an answer depends on who was served before.

The position that `bllm_position_skipped.py` shows to be skipped keeps what an earlier request left there, and is read.
A tiny random Qwen2 in float32, greedy: a prompt alone, another one, and the first again.
"""

from __future__ import annotations

import logging
import sys
import tempfile

import torch
from bllm.engine.inference_engine import InferenceEngine
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

logging.disable()
words = {f"t{number}": number for number in range(64)}
plain = Tokenizer(models.WordLevel(words))
plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
torch.manual_seed(0)
model = Qwen2ForCausalLM(Qwen2Config(vocab_size=64, num_key_value_heads=1, initializer_range=0.5, **sizes)).eval()
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=plain).save_pretrained(folder)
    engine = InferenceEngine(folder, num_blocks=16, max_batch_size=2, max_seq_len=64, device="cpu", dtype=torch.float32)
engine.tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain)  # what was loaded splits words as Qwen2's does


def ask(prompt: str, new: int = 8) -> str:
    """The greedy answer."""
    answer: str = engine.generate(prompt, max_new_tokens=new, temperature=0.0)[0]
    return answer.removeprefix(prompt).strip()


first = ask("t5 t6 t7")
ask("t11 t12 t13 t14 t15 t16 t17 t18")
again = ask("t5 t6 t7")
tokens = model.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=0)
right = " ".join(f"t{token}" for token in tokens[0, 3:].tolist())

print(f"at first  {first}\nagain     {again}\nby transformers  {right}")
sys.exit(not first == again == right)
