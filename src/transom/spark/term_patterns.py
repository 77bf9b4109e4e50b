"""REGEX and REPLACE with constant patterns, as native Spark columns."""

from __future__ import annotations

import re
from collections.abc import Callable

from transom.algebra.expressions import Call
from transom.reference.rdf.regular import template
from transom.spark.java_patterns import JavaPattern, characters, written
from transom.spark.sql import F, Sql, let
from transom.spark.term_shapes import Shape, Shaped, truths
from transom.spark.term_strings import like


def regex(call: Call, one: Shaped) -> Shaped:
    """Whether the constant pattern of a call is found in a string."""
    java = written(call)
    if java.pattern is None:
        return truths(F.lit(None).cast("boolean"))
    found = F.lit(java.pattern)
    if java.longest is None:
        return truths(F.rlike(one.text()["s"], found))
    return truths(let([one.text()["s"]], lambda text: _if_short(java, text, F.rlike(text, found))))


def _if_short(java: JavaPattern, text: Sql, found: Sql) -> Sql:
    """What was found in a text, NULL where it is longer than the pattern allows."""
    return found if java.longest is None else F.when(F.length(text) <= java.longest, found)


def replace(call: Call, one: Shaped) -> Shaped:
    """Every match of the constant pattern of a call replaced; one that matches nothing at all is an error."""
    java, instead, flags = written(call), characters(call, 2), characters(call, 3)
    parts = None
    if java.pattern is not None and instead is not None and flags is not None and not java.matches_nothing:
        parts = [(instead, None)] if "q" in flags else template(instead, java.groups)
    if parts is None or java.pattern is None:
        return Shaped(Shape.TERM, F.lit(None).cast("string"))
    new = "".join(re.sub(r"([\\$0-9])", r"\\\1", words) if group is None else f"${group}" for words, group in parts)
    pattern = java.pattern

    def replaced(text: Sql) -> Sql:
        return like(text, F.regexp_replace(text["s"], F.lit(pattern), F.lit(new)))

    return Shaped(
        Shape.TEXT,
        let([one.text()], lambda text: _if_short(java, text["s"], replaced(text))),
    )


PATTERNS: dict[str, Callable[[Call, Shaped], Shaped]] = {"REGEX": regex, "REPLACE": replace}
"""The functions that take a constant pattern, by their names."""
