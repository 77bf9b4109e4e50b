"""The nodes of a plan for Spark."""
