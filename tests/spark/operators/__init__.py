"""Operators and plans on Spark."""
