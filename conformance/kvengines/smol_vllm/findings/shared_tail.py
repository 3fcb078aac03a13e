"""smol-vllm 0.1.2, `prefix/shared-bytes-never-change`: after `copy_on_write` nothing is ever copied.

Two sequences share a half-full block, and both are given its next slot.
"""

from __future__ import annotations

import sys

from smol_vllm.block_manager import BlockSpaceManager

manager = BlockSpaceManager(num_blocks=8, block_size=4)
manager.allocate(0, num_tokens=2)
manager.copy_on_write(src_seq_id=0, dst_seq_id=1)
manager.append_token(0)
manager.append_token(1)

ours, theirs = manager.get_block_table(0), manager.get_block_table(1)
print(f"the third token of sequence 0 goes to block {ours[-1]} slot 2, that of sequence 1 to block {theirs[-1]} slot 2")
sys.exit(ours[-1] == theirs[-1])
