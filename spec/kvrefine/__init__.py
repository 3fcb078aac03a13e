"""kvrefine: whether what an engine shows is allowed, where it hides some of its choices.

`hidden` has the events of which a part is not told and what each may stand for, `refinement` follows the set of states
that are compatible with what was shown, and `footprint` tells which of them are one. The law of `kvspec` judges every
guess; nothing here is law. Standard library only.
"""
