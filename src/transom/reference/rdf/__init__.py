"""Questions over RDF to answers: snapshot by snapshot, at the instants where something changes. Obvious, not fast."""
