"""Checkpoints on Spark: settings, damage, and those of released versions."""
