"""Running queries on Spark: their DataFrame, sinks, checkpoints and progress."""
