"""Hold-out judges: a second opinion on the three languages, written from the papers and from docs/decisions.md.

Nothing here is shared with the other generators, models and evaluators of the project. A judge generates questions and
streams, evaluates them naively (DuckDB for the rows of one window, pyoxigraph for the statements of one instant, pyproj
for distances on the earth) and compares the answer with the public API.
"""
