"""Generated queries on Spark against the reference engine."""
