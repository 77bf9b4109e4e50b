"""The hold-out judge of Streaming SPARQL."""
