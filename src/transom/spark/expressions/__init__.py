"""Expressions, functions and aggregates as native Spark columns."""
