"""The commands of `kvspec`, one module each; `kvconformance.cli` has the app, `check`, `rules` and `imposters`."""
