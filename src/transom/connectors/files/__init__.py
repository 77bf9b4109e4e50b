"""Rows in CSV, JSON lines and Parquet files."""
