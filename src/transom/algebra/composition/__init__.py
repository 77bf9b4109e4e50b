"""Queries that read the answers of other queries."""
