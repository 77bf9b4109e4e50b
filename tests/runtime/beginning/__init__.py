"""Where the answers of a run begin; nothing here needs Spark."""
