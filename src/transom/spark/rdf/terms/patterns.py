"""REGEX and REPLACE with constant patterns, as native Spark columns."""

from __future__ import annotations

import re
from collections.abc import Callable

from transom.algebra.expressions.expression import Call
from transom.reference.rdf.regex import parse_replacement
from transom.spark.expressions.java_patterns import JavaPattern, constant_characters, java_pattern
from transom.spark.expressions.sql import F, Sql, let
from transom.spark.rdf.terms.shapes import ShapedTerm, TermShape, truth_term
from transom.spark.rdf.terms.strings import with_characters


def regex(call: Call, argument: ShapedTerm) -> ShapedTerm:
    """Compute REGEX with a constant pattern: whether it matches a part of a string; NULL for non-strings."""
    java = java_pattern(call)
    if java.pattern is None:
        return truth_term(F.lit(None).cast("boolean"))
    pattern = F.lit(java.pattern)
    if java.longest is None:
        return truth_term(F.rlike(argument.text()["s"], pattern))
    return truth_term(let([argument.text()["s"]], lambda text: _null_if_too_long(java, text, F.rlike(text, pattern))))


def _null_if_too_long(java: JavaPattern, text: Sql, result: Sql) -> Sql:
    """Return `result`, or NULL if the text is longer than the pattern's limit, if the pattern has one."""
    return result if java.longest is None else F.when(F.length(text) <= java.longest, result)


def replace(call: Call, argument: ShapedTerm) -> ShapedTerm:
    """Compute REPLACE with a constant pattern; a pattern that matches the empty string is an error (NULL)."""
    java, replacement, flags = java_pattern(call), constant_characters(call, 2), constant_characters(call, 3)
    parts = None
    if java.pattern is not None and replacement is not None and flags is not None and not java.matches_nothing:
        parts = [(replacement, None)] if "q" in flags else parse_replacement(replacement, java.groups)
    if parts is None or java.pattern is None:
        return ShapedTerm(TermShape.TERM, F.lit(None).cast("string"))
    java_replacement = "".join(
        re.sub(r"([\\$0-9])", r"\\\1", text) if group is None else f"${group}" for text, group in parts
    )
    pattern = java.pattern

    def replaced(text: Sql) -> Sql:
        """Replace all matches in a string (parsed value), and keep its language tag."""
        return with_characters(text, F.regexp_replace(text["s"], F.lit(pattern), F.lit(java_replacement)))

    return ShapedTerm(
        TermShape.TEXT,
        let([argument.text()], lambda text: _null_if_too_long(java, text["s"], replaced(text))),
    )


PATTERNS: dict[str, Callable[[Call, ShapedTerm], ShapedTerm]] = {"REGEX": regex, "REPLACE": replace}
"""Functions that take a constant pattern, by name."""
