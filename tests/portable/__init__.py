"""The same numbers on every machine: what is equal bit for bit, under other BLAS kernels, SIMD levels and seeds.

`vectors` computes named results, `environments` says what a machine can be made to look like, `comparing` runs the one
in the other and compares; `python -m tests.portable` does it all, with the numeric tests in every environment.
`spec/equality.md` says which numbers are bits and which are certified.
"""
