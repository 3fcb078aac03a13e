"""What is compiled and measured, one room per operation; each has `specialisations()`, listed by `registry`."""
