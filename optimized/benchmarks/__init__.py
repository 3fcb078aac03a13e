"""How fast the kernels are on a GPU, after a check on it that they are right: `python optimized/benchmarks/run.py`.

`shapes` lists what is timed, `problems` puts it in memory; `correctness` judges codes, outputs and bits on the same
device, over the `samples`, with bounds from `certified`; `timing` measures one call of `ours`, `contenders` wraps the
kernels of others, and `table` prints and writes.
"""
