"""The functions of SPARQL 1.1 over RDF terms as native Spark columns."""
