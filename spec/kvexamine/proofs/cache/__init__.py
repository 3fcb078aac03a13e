"""The cache for any number of blocks, requests and tokens: induction in z3, and its tie to the transition.

`model` has the state as functions, `invariants` what holds of it, `relation` what an action is; `admission`,
`reserving`, `computing` and `exits` have the actions, `actions` lists them. `induction` and `theorems` are the
obligations, `mutants` what they must refute; `small` and `finite` read the formulas over finite structures;
`abstraction`, `walks` and `tie` hold them against what the transition does.
"""
