"""Mutation testing: small faults drawn by a seed over every layer, and the tests that must notice them."""
