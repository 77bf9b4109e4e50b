"""CQL with spatial windows: text to syntax to algebra and back."""
