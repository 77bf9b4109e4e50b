"""Algebra to algebra: a pipeline of small rules, each of which can be switched off by name."""
