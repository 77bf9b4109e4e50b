"""The schema of a catalog file, as pydantic models."""
