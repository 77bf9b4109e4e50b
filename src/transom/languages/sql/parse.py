"""Text to syntax: the driver that every language with this grammar uses, and the builder of scalar expressions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from lark import Token, Tree, UnexpectedInput
from lark.exceptions import VisitError
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive, v_args

from transom.errors import ParseError, Span, TransomError
from transom.languages.grammars import parser
from transom.languages.sql.failures import RESERVED as RESERVED
from transom.languages.sql.failures import WORDS, Advice, explain_failure
from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    Constant,
    Function,
    InList,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    SelectItem,
    TypedConstant,
    Unary,
)
from transom.model.types import INTEGER_MAX

LONGEST = 20_000
"""Characters in a query text: what is parsed in less than a second, whatever it is."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_WHOLE = "surrogates from D800 to DFFF stand for no character"

TOO_LARGE = "a whole number of more than 64 bits"

DEEPEST = 100
"""Levels of nesting in a query: few enough for the stack of every supported Python; all accept the same queries."""


def spanned(meta: Meta) -> Span:
    """Where a piece of the tree stands in the text."""
    return Span(0, 0) if meta.empty else Span(meta.start_pos, meta.end_pos)


def span_of(token: Token) -> Span:
    """Where a token stands in the text."""
    return Span(token.start_pos or 0, token.end_pos or 0)


def parse_with(language: str, builder: Expressions, text: str, words: Mapping[str, str], advice: Advice) -> Any:
    """The syntax tree that a builder makes of a text; every failure is a ParseError that points into it.

    `words` tells how the grammar's own tokens are called in messages.
    """
    if len(text) > LONGEST:
        raise ParseError(
            f"a query is at most {LONGEST:,} characters long",
            span=Span(LONGEST, len(text)),
            text=text,
            hint=f"this one has {len(text):,}",
        )
    lone = _SURROGATE.search(text)
    if lone:
        at = Span(*lone.span())
        raise ParseError("half of a character", span=at, text=text.encode("utf-8", "replace").decode(), hint=_WHOLE)
    try:
        tree = parser(language).parse(text)
        check_depth(tree, text)
        return builder.transform(tree)
    except UnexpectedInput as error:
        raise explain_failure(error, text, {**WORDS, **words}, advice) from None
    except VisitError as error:
        if isinstance(error.orig_exc, TransomError):
            raise error.orig_exc.within(text) from None
        raise


def check_depth(tree: Tree[Token], text: str) -> None:
    """Refuse what is nested so deeply that nobody meant it."""
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > DEEPEST:
            raise ParseError(
                f"nested more than {DEEPEST} levels deep",
                span=spanned(node.meta),
                text=text,
                hint="write it with fewer parentheses; each operator of a long sum is a level too",
            )
        stack.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))


@v_args(meta=True)
class Expressions(Transformer_NonRecursive[Token, Any]):
    """Builds scalar expressions; a language's builder adds its own clauses."""

    def disjunction(self, meta: Meta, children: list[Node]) -> Node:
        return Logic("OR", tuple(children), spanned(meta))

    def conjunction(self, meta: Meta, children: list[Node]) -> Node:
        return Logic("AND", tuple(children), spanned(meta))

    def negation(self, meta: Meta, children: list[Node]) -> Node:
        return Unary("NOT", children[0], spanned(meta))

    def compare(self, meta: Meta, children: list[Any]) -> Node:
        left, operator, right = children
        return Binary("<>" if operator == "!=" else str(operator), left, right, spanned(meta))

    def is_null(self, meta: Meta, children: list[Node]) -> Node:
        return IsNull(children[0], False, spanned(meta))

    def is_not_null(self, meta: Meta, children: list[Node]) -> Node:
        return IsNull(children[0], True, spanned(meta))

    def in_list(self, meta: Meta, children: list[Node]) -> Node:
        return InList(children[0], tuple(children[1:]), False, spanned(meta))

    def not_in_list(self, meta: Meta, children: list[Node]) -> Node:
        return InList(children[0], tuple(children[1:]), True, spanned(meta))

    def between(self, meta: Meta, children: list[Node]) -> Node:
        return Between(children[0], children[1], children[2], False, spanned(meta))

    def not_between(self, meta: Meta, children: list[Node]) -> Node:
        return Between(children[0], children[1], children[2], True, spanned(meta))

    def like(self, meta: Meta, children: list[Node]) -> Node:
        return Like(children[0], children[1], False, spanned(meta))

    def not_like(self, meta: Meta, children: list[Node]) -> Node:
        return Like(children[0], children[1], True, spanned(meta))

    def binary(self, meta: Meta, children: list[Any]) -> Node:
        left, operator, right = children
        return Binary("-" if operator.type == "MINUS" else str(operator), left, right, spanned(meta))

    def negative(self, meta: Meta, children: list[Any]) -> Node:
        return Unary("-", children[1], spanned(meta))

    def positive(self, meta: Meta, children: list[Any]) -> Node:
        return Unary("+", children[1], spanned(meta))

    def integer(self, meta: Meta, children: list[Token]) -> Node:
        return Constant(whole_number(children[0], INTEGER_MAX + 1), spanned(meta))  # -(2**63) is a number, too

    def real(self, meta: Meta, children: list[Token]) -> Node:
        number = float(children[0])
        if math.isinf(number):
            raise ParseError("a float of more than 64 bits", span=spanned(meta), hint="the largest is about 1.8e308")
        return Constant(number, spanned(meta))

    def string(self, meta: Meta, children: list[Token]) -> Node:
        return Constant(unquote(children[0]), spanned(meta))

    def true(self, meta: Meta, children: list[Token]) -> Node:
        return Constant(True, spanned(meta))

    def false(self, meta: Meta, children: list[Token]) -> Node:
        return Constant(False, spanned(meta))

    def null(self, meta: Meta, children: list[Token]) -> Node:
        return Constant(None, spanned(meta))

    def typed(self, meta: Meta, children: list[Token]) -> Node:
        return TypedConstant(children[0].upper(), unquote(children[1]), spanned(meta))

    def call(self, meta: Meta, children: list[Any]) -> Node:
        star = len(children) == 2 and isinstance(children[1], Token)
        arguments = () if star else tuple(children[1:])
        return Function(children[0].upper(), arguments, star, spanned(meta))

    def branch(self, meta: Meta, children: list[Node]) -> tuple[Node, Node]:
        return (children[0], children[1])

    def otherwise(self, meta: Meta, children: list[Node]) -> list[Node]:
        return children

    def searched_case(self, meta: Meta, children: list[Any]) -> Node:
        otherwise = children.pop()[0] if isinstance(children[-1], list) else None
        return CaseWhen(None, tuple(children), otherwise, spanned(meta))

    def simple_case(self, meta: Meta, children: list[Any]) -> Node:
        otherwise = children.pop()[0] if isinstance(children[-1], list) else None
        return CaseWhen(children[0], tuple(children[1:]), otherwise, spanned(meta))

    def cast(self, meta: Meta, children: list[Any]) -> Node:
        return CastTo(children[0], str(children[1]).lower(), spanned(meta), span_of(children[1]))

    def name(self, meta: Meta, children: list[str]) -> Node:
        return Name(children[0] if len(children) == 2 else None, children[-1], spanned(meta))

    def identifier(self, meta: Meta, children: list[Token]) -> str:
        return str(children[0])

    def quoted(self, meta: Meta, children: list[Token]) -> str:
        return unquote(children[0])


Clause = tuple[dict[str, Any], int]
"""The fields of a SELECT that a clause gives, and where it begins."""


@v_args(meta=True)
class Clauses(Expressions):
    """Builds the clauses of SELECT that look alike in every language."""

    def everything(self, meta: Meta, children: list[Any]) -> Span:
        return spanned(meta)

    def item(self, meta: Meta, children: list[Any]) -> SelectItem:
        return SelectItem(children[0], children[1] if len(children) == 2 else None, spanned(meta))

    def where_clause(self, meta: Meta, children: list[Node]) -> Clause:
        return {"where": children[0]}, meta.start_pos

    def group_clause(self, meta: Meta, children: list[Node]) -> Clause:
        return {"group_by": tuple(children)}, meta.start_pos

    def having_clause(self, meta: Meta, children: list[Node]) -> Clause:
        return {"having": children[0]}, meta.start_pos


def whole_number(token: Token, largest: int = INTEGER_MAX) -> int:
    """A token's number, if 64 bits hold it."""
    digits = token.lstrip("0") or "0"
    if len(digits) > 19 or int(digits) > largest:
        raise ParseError(TOO_LARGE, span=span_of(token), hint=f"the largest is {INTEGER_MAX}")
    return int(digits)


def unquote(token: str) -> str:
    """The text between quotes, doubled quotes undone."""
    return token[1:-1].replace(token[0] * 2, token[0])
