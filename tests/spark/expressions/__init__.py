"""Expressions and aggregates on Spark against the reference engine."""
