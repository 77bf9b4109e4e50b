"""Connectors on Spark against the plain readers."""
