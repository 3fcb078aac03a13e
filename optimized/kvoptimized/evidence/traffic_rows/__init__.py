"""Rows of the traffic table, one module per operation; each has `rows()`, which gives `Row`s of `evidence.traffic`."""
