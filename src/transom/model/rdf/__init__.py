"""RDF: terms, statements, values of literals, solutions, and validity intervals."""
