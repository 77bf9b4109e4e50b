"""Cells whose faults need a server: a broker of Kafka, or PostgreSQL."""
