"""Read files: rows in CSV, JSON lines and Parquet, tracks and AIS, RDF statements."""
