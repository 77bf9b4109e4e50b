"""Made-up rows: seeded, the same on every machine, and the same however far they are run."""
