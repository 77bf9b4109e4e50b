"""The query algebra: operators and expressions, independent of language and engine.

Operators are frozen values in four families, named for what they produce: `sources`, `windows`, `relations` (streams
of windows) and `streams` (streams of tagged tuples). Schemas are derived and checked when an operator is built.

Every operator names the definition it comes from: 000 is the document that defines SNEEql, 001 the one on spatial
windows in CQL, 002 the one on Streaming SPARQL; S1, S2, ... are the decisions in docs/decisions.md.
"""
