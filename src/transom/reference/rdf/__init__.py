"""The reference engine for RDF: snapshots at the instants where something changes. Obvious, not fast."""
