"""What a query over RDF streams and graphs means, independent of engine.

Here everything is valid for a time: an operator gives statements or solutions with right-open intervals. Operators are
frozen values in four families: `statements` (sources and windows), `patterns` (from statements to solutions),
`solutions` and `forms` (what a query hands out). `tree` has the closed unions.

002 is the document that defines Streaming SPARQL, W3C the recommendation SPARQL 1.1 Query; R1, R2, ... are decisions.
"""
