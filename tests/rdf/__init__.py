"""RDF and SPARQL: terms, the algebra and the reference engine."""
