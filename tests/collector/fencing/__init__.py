"""Collectors that are overtaken by a newer one on their log."""
