"""Resolve catalog entries to extents and their sources."""
