"""Runs that begin in recorded history, or after another query."""
