"""The collector's log: Parquet segments, read in plain Python and by Spark."""
