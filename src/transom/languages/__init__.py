"""The query languages, one folder each: text to syntax to algebra and back; `sql` holds what SNEEql and CQL share."""
