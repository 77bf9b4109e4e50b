"""Spark's own files in a checkpoint: offsets, commits and the logs of file sources, read and checked."""
