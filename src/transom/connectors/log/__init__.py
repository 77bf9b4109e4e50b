"""The collector's log, Parquet segments or a Kafka topic, read in plain Python and by Spark."""
