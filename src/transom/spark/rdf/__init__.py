"""RDF on Spark: patterns, solutions and sequences."""
