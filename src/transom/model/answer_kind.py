"""The kinds of answers that queries have; a module of its own, because compiling a query needs no answer."""

from __future__ import annotations

from typing import Literal

AnswerKind = Literal["tagged-tuples", "stream", "windows"]
"""Tuples with tick and index; the stream of a relation, with one bag per tick; or windows, each a bag."""
RdfAnswerKind = Literal["solutions", "triples", "sequences", "boolean"]
"""Kinds of answers over RDF; all have validity intervals."""
