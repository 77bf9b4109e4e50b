"""Tests of RDF terms and their texts."""
