"""What the compilers make of every kernel, without a GPU: `python -m kvoptimized.static`.

`registry` says which kernels are compiled, recorded from launches of the public operations (`recording`) that the rooms
of `specialisations` make; `compiling` compiles them offline for each target; `sass`, `amdgcn` and `ptx` read what came
out, with the tools of Triton's own wheel, and `measures` counts it; `ceilings` holds the recorded bounds, from the file
`ceilings.toml`; `table` compares and prints.
"""
