"""Evidence: commands that put two independent statements of one truth to every input that can tell them apart."""
