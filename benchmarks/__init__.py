"""Measurements: ratios in one run on one machine, never absolute times."""
