"""Divide the state in a checkpoint into another number of partitions."""
