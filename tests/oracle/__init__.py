"""An independent oracle for SNEEql: random questions, and their answers computed by DuckDB."""
