"""kvreference: a readable engine that obeys the rules, written from the rules and not from the spec's transitions.

`blocks`, `prefix_cache` and `pool` are the block manager, `scheduler` is continuous batching on top of it, `contiguous`
the allocator of classic serving as a baseline. `paged_cache`, `quantizers`, `attention` and `tolerance` are the
numerics in NumPy. It knows the vocabulary of `kvspec`, never its transitions.
"""
