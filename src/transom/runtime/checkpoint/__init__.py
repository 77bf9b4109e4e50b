"""Checkpoints: Spark's logs and our own files, checked before a start."""
