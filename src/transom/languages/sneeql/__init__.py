"""SNEEql: queries over sensed, pushed and stored extents (document 000)."""
