"""Sinks: folders, Kafka, MQTT, PostgreSQL, and the dead letters of a sink."""
