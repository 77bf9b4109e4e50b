"""Commands for the state in a checkpoint."""
