"""Aggregates that add and retract rows."""
