"""Generated rows: seeded, identical on every machine, and independent of where the run ends."""
