"""Texts changed at random: whatever is read, only Transom's own errors come out, and soon."""
