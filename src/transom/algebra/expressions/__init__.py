"""Scalar expressions, aggregates and the functions they call."""
