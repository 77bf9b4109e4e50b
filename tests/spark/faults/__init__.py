"""Seeded faults that tests on Spark must detect."""
