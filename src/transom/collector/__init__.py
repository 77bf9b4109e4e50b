"""The collector: a separate process that acquires rows and writes the logs that queries read."""
