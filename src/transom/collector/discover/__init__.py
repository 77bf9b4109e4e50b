"""Draft a catalog from a sample of a source."""
