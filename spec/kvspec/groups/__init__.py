"""Caches with several groups of layers: full attention, a sliding window, recurrent states, a draft model.

A state machine of its own beside that of one block table: `vocabulary` has the words, `needs` the definition of what a
query reads, from which everything follows, `events`, `state` and `transition` are the relation, `hits` and `claims`
judge hits and self-descriptions, `invariants` recomputes everything from scratch. `spec/groups.md` derives it.
"""
