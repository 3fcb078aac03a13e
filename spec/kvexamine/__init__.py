"""kvexamine: what examines the law of `kvspec`, apart from it.

`explorer` goes through every state that small worlds can reach under its transitions, `proofs` shows with z3, Gappa
and CrossHair what holds for any number of blocks, requests and slots. Both break the law on purpose, to show what they
would notice. `spec/explorer.md` and `spec/proofs.md` are their pages. Importing it needs the standard library only.
"""
