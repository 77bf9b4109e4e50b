"""Kafka topics, read in plain Python and by Spark's Kafka connector."""
