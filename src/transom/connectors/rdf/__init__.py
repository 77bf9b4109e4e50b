"""RDF connectors: payloads, statements and terms."""
