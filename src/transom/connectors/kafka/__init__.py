"""Topics of Kafka, read in plain Python and by Spark's own connector."""
