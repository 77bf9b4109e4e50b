"""Commands that read or change the state of a checkpoint."""
