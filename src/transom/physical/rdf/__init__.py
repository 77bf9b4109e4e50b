"""Planning RDF: patterns, joins of solutions, EXISTS and paths."""
