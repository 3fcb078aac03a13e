"""Mutation testing of ourselves: every small change to a rule or to the reference must be noticed by somebody.

`mutants` makes the changed modules with the operators of cosmic-ray and mutmut, `killers` are tests, `corpus` histories
that must notice; `trying` runs them in processes of their own; `equivalent.toml` lists the changes that change nothing.
`make mutants` runs the whole; a survivor that is not listed fails it.
"""
