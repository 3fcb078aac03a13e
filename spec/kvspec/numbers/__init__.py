"""Numbers: what a quantized cache holds, in exact rational arithmetic.

The room holds the formats with their correctly rounded conversions (`floats`), quantization schemes as data
(`schemes`), which elements share a scale (`groups`), the scale of a group (`scales`) and the meaning of codes
(`quantize`), the derived error bounds (`bounds`, with `exhaustive` as the command that tries every input), the layout
of packed codes (`packing`) and the bits that each element costs (`footprint`). Derivations: `spec/quantization.md`.
"""
