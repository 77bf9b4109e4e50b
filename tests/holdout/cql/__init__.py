"""The hold-out judge of CQL."""
