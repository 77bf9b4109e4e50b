"""Project files: `transom.toml` names a catalog, its queries with their sinks and options, and limits."""
