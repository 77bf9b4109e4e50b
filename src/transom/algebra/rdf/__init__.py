"""The algebra of queries over RDF streams and graphs, independent of engine.

Statements are rows (s, p, o) of terms; streams of statements and their windows use the operators of `transom.algebra`.
Solutions are relations with a column per variable, and `solutions` builds SPARQL's operators from those on relations.
Operators of RDF alone are in `statements` (stored graphs, and constructors of windows of statements), `patterns` (from
statements to solutions) and `forms` (CONSTRUCT, DESCRIBE and ASK).

002 is the document that defines Streaming SPARQL, W3C the recommendation SPARQL 1.1 Query; R1, R2, ... are decisions.
"""
