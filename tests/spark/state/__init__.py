"""State in checkpoints, and how it is divided."""
