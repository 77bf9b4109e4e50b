"""SPARQL syntax to algebra: datasets, names, triples and expressions."""
