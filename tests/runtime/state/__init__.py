"""Decoding of the state in a checkpoint, without Spark."""
