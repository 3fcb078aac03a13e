"""kvreference: a readable engine that obeys the rules, NumPy only."""
