"""The documentation site: how it is built, and the parts of it that are not Markdown.

Nothing here is a plugin of MkDocs. What changes a page is an extension of Python-Markdown, what colours a query is a
Pygments lexer of the package, and the rest is CSS and templates. Zensical, the successor of Material for MkDocs, reads
all of that and the same `mkdocs.yml`, so that `python -m website build --with zensical` gives the same pages.
"""
