"""Numbers: what a quantized cache holds, in exact rational arithmetic.

The room holds the formats with their correctly rounded conversions (`floats`), quantization schemes as data
(`schemes`), which elements share a scale and the bits that each costs (`groups`), the scale of a group (`scales`) and
the meaning of codes (`quantize`), the derived error bounds (`bounds`)
and the layout of packed codes (`packing`). Derivations: `spec/quantization.md`.
"""
