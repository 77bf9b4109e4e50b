"""State bounds: formulas, and what a straightforward evaluation really remembers."""
