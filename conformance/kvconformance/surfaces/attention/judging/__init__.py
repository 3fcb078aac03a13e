"""What is wrong with an answer, and which rule it breaks.

`certified` says which outputs are allowed, as far as the `doubts` of a quantized cache go, `outcomes` has one call and
its comparison, `neighbours` what a write may store, and `blame` the rule.
"""
