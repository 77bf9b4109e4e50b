"""Running queries: sinks, checkpoints, stopping."""
