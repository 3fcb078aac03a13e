"""How fast the kernels are on a GPU, after a check on it that they are right: `python optimized/benchmarks/run.py`.

`shapes` lists what is timed, `problems` puts it in memory, `correctness` judges codes, outputs and bits on the same
device, `timing` measures one call, `contenders` wraps the kernels of others, and `table` prints and writes.
"""
