"""The paged cache, explored: every state of a scope, written down as a number for each of its parts.

`scopes` names the worlds, `moves` proposes what may happen next, `checks` says what must hold, `packing` writes a state
down up to the names of blocks, `looking` puts successors together from what each request can do (for speed:
`spec/explorer.md` has the ratio to plain breadth-first search), `liveness` looks for runs that never end, `faults`
breaks the transition on purpose to show which scope would notice, and `model` puts it together.
"""
