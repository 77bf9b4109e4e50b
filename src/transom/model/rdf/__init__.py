"""RDF: terms and statements, the values of literals, solutions, and how long each is valid."""
