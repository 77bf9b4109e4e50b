"""Scalar expressions, shared by the languages that look like SQL."""
