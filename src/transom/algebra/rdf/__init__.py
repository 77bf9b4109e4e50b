"""What a query over RDF streams and graphs means, independent of engine.

Statements are rows (s, p, o) of terms: streams of them and their windows are the operators of `transom.algebra`.
Solutions are relations with a column per variable, and `solutions` writes SPARQL's operators with those on relations.
Only this has its own operators: `statements` (stored graphs, and how windows of statements are built), `patterns` (from
statements to solutions) and `forms` (what a query hands out).

002 is the document that defines Streaming SPARQL, W3C the recommendation SPARQL 1.1 Query; R1, R2, ... are decisions.
"""
