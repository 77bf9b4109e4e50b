"""Calendar windows (E15), judged by walking through every quarter of an hour of a time zone."""
