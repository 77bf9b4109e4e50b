"""Generated SPARQL questions against Oxigraph and a second evaluator."""
