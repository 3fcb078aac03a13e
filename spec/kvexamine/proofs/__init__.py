"""Proofs: what is shown for any number of blocks, requests and slots, and by which machine.

`model` is the state as z3 functions with its invariants, `actions` the events as relations, `induction` the obligations
with their vacuity checks and mutants; `finite` reads one and the same formula over finite structures, which gives
counterexamples and lets `tie` hold every relation against what the transition really does. `softmax`, `gappa` and
`contracts` have the arithmetic; `run` makes one table of all. `spec/proofs.md` says what is proved and what is assumed.
Needs the extra `proofs`; importing this package alone needs nothing.
"""
