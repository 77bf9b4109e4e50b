"""What a query means, independent of language and engine.

Operators are frozen values in four families, named for what they produce: `sources`, `windows`, `relations` (streams
of windows) and `streams` (streams of tagged tuples). Schemas are derived and checked when an operator is built.
"""
