"""Evidence that the certificates and quantizers hold what they say, as commands.

`python -m kvreference.evidence.soundness`, `.power` and `.quality` print their figures; `kernels` holds the
low-precision kernels that are judged and `rows` the inputs that they are given.
"""
