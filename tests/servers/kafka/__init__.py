"""Kafka: topics as sources, as logs and as sinks."""
