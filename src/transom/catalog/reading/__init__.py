"""Read catalog files: YAML, locations of values, durations, references to secrets."""
