"""`verify`: compare the reference engine, a replay and streaming runs on the same data."""
