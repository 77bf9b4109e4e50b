"""Test cases for queries: YAML files with rows in and answers out, run on the reference engine or on Spark."""
