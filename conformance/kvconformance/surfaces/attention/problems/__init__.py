"""A problem: its `numbers`, the `sides` of a quantized cache, and how they lie in memory (`placements`)."""
