"""SPARQL 1.1 queries, with windows over RDF streams."""
