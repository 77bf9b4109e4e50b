"""State bounds: how many rows a query keeps."""
