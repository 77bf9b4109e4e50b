"""Parse driver of the SQL-like languages, and builders of scalar expressions and shared clauses."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lark import Token, Tree, UnexpectedInput
from lark.exceptions import VisitError
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive, v_args

from transom.errors import ParseError, Span, TransomError
from transom.languages.grammars import parser
from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    FunctionCall,
    InList,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    SelectItem,
    SqlLiteral,
    TypedLiteral,
    Unary,
)
from transom.languages.sql.type_messages import shorten
from transom.model.types import INTEGER_MAX

if TYPE_CHECKING:
    from transom.languages.sql.parse_errors import Advice

MAX_TEXT_LENGTH = 20_000
"""Longest query text in characters; any text of this length parses in less than a second."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_HINT = "leave it out: U+D800 to U+DFFF are not characters"

TOO_LARGE = "this integer does not fit into 64 bits"

MAX_DEPTH = 100
"""Deepest nesting of a query. It fits the stack of every supported Python, so that all accept the same queries."""


def span_of_meta(meta: Meta) -> Span:
    """Return the span of a parse tree node in the query text; (0, 0) if the node is empty."""
    return Span(0, 0) if meta.empty else Span(meta.start_pos, meta.end_pos)


def span_of(token: Token) -> Span:
    """Return the span of a token in the query text."""
    return Span(token.start_pos or 0, token.end_pos or 0)


def parse_language(
    language: str, builder: ExpressionBuilder, text: str, token_names_in_errors: Mapping[str, str], advice: Advice
) -> Any:
    """Parse `text` by a language's grammar; `builder` builds the syntax tree, `advice` gives hints for ParseErrors."""
    if len(text) > MAX_TEXT_LENGTH:
        raise ParseError(
            f"a query is at most {MAX_TEXT_LENGTH:,} characters long",
            span=Span(MAX_TEXT_LENGTH, len(text)),
            text=text,
            hint=f"this one has {len(text):,}",
        )
    surrogate = _SURROGATE.search(text)
    if surrogate:
        span = Span(*surrogate.span())
        raise ParseError(
            "half of a surrogate pair", span=span, text=text.encode("utf-8", "replace").decode(), hint=_SURROGATE_HINT
        )
    try:
        tree = parser(language).parse(text)
        check_depth(tree, text)
        return builder.transform(tree)
    except UnexpectedInput as error:
        from transom.languages.sql.parse_errors import TOKEN_NAMES, explain_failure

        raise explain_failure(error, text, {**TOKEN_NAMES, **token_names_in_errors}, advice) from None
    except VisitError as error:
        if isinstance(error.orig_exc, TransomError):
            raise error.orig_exc.within(text) from None
        raise


def check_depth(tree: Tree[Token], text: str) -> None:
    """Raise ParseError if a parse tree is nested more than MAX_DEPTH levels deep."""
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise ParseError(
                f"the expression is nested more than {MAX_DEPTH} levels deep",
                span=span_of_meta(node.meta),
                text=text,
                hint="split the expression; each operator and each parenthesis is a level",
            )
        stack.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))


@v_args(meta=True)
class ExpressionBuilder(Transformer_NonRecursive[Token, Any]):
    """Builds scalar expressions; a language's builder adds its own clauses."""

    def disjunction(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a OR b OR ...`."""
        return Logic("OR", tuple(children), span_of_meta(meta))

    def conjunction(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a AND b AND ...`."""
        return Logic("AND", tuple(children), span_of_meta(meta))

    def negation(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `NOT a`."""
        return Unary("NOT", children[0], span_of_meta(meta))

    def compare(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of a comparison such as `a < b`; `!=` becomes `<>`."""
        left, operator, right = children
        return Binary("<>" if operator == "!=" else str(operator), left, right, span_of_meta(meta))

    def is_null(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a IS NULL`."""
        return IsNull(children[0], False, span_of_meta(meta))

    def is_not_null(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a IS NOT NULL`."""
        return IsNull(children[0], True, span_of_meta(meta))

    def in_list(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a IN (b, c, ...)`."""
        return InList(children[0], tuple(children[1:]), False, span_of_meta(meta))

    def not_in_list(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a NOT IN (b, c, ...)`."""
        return InList(children[0], tuple(children[1:]), True, span_of_meta(meta))

    def between(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a BETWEEN b AND c`."""
        return Between(children[0], children[1], children[2], False, span_of_meta(meta))

    def not_between(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a NOT BETWEEN b AND c`."""
        return Between(children[0], children[1], children[2], True, span_of_meta(meta))

    def like(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a LIKE b`."""
        return Like(children[0], children[1], False, span_of_meta(meta))

    def not_like(self, meta: Meta, children: list[Node]) -> Node:
        """Build the syntax node of `a NOT LIKE b`."""
        return Like(children[0], children[1], True, span_of_meta(meta))

    def binary(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of arithmetic or concatenation such as `a + b` or `a || b`."""
        left, operator, right = children
        return Binary("-" if operator.type == "MINUS" else str(operator), left, right, span_of_meta(meta))

    def negative(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `-a`."""
        return Unary("-", children[1], span_of_meta(meta))

    def positive(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `+a`."""
        return Unary("+", children[1], span_of_meta(meta))

    def integer(self, meta: Meta, children: list[Token]) -> Node:
        """Build the syntax node of an integer literal; raises ParseError if it has more than 64 bits."""
        return SqlLiteral(whole_number(children[0], INTEGER_MAX + 1), span_of_meta(meta))  # to accept -(2**63)

    def real(self, meta: Meta, children: list[Token]) -> Node:
        """Build the syntax node of a float literal such as `1.5e3`; raises ParseError if it overflows to infinity."""
        number = float(children[0])
        if math.isinf(number):
            raise ParseError(
                f"{shorten(children[0])} is too large for a float",
                span=span_of_meta(meta),
                hint="the largest is about 1.8e308",
            )
        return SqlLiteral(number, span_of_meta(meta))

    def string(self, meta: Meta, children: list[Token]) -> Node:
        """Build the syntax node of a string literal, without its quotes."""
        return SqlLiteral(unquote(children[0]), span_of_meta(meta))

    def true(self, meta: Meta, children: list[Token]) -> Node:
        """Build the syntax node of the literal TRUE."""
        return SqlLiteral(True, span_of_meta(meta))

    def false(self, meta: Meta, children: list[Token]) -> Node:
        """Build the syntax node of the literal FALSE."""
        return SqlLiteral(False, span_of_meta(meta))

    def null(self, meta: Meta, children: list[Token]) -> Node:
        """Build the syntax node of the literal NULL."""
        return SqlLiteral(None, span_of_meta(meta))

    def typed(self, meta: Meta, children: list[Token]) -> Node:
        """Build the syntax node of a typed literal such as `TIME '2009-03-01T12:00:00Z'`."""
        return TypedLiteral(children[0].upper(), unquote(children[1]), span_of_meta(meta))

    def call(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of a function call such as `f(a, b)` or `f(*)`, with the name in capitals."""
        star = len(children) == 2 and isinstance(children[1], Token)
        arguments = () if star else tuple(children[1:])
        return FunctionCall(children[0].upper(), arguments, star, span_of_meta(meta))

    def branch(self, meta: Meta, children: list[Node]) -> tuple[Node, Node]:
        """Return the branch `WHEN a THEN b` of CASE as the pair (condition, result)."""
        return (children[0], children[1])

    def otherwise(self, meta: Meta, children: list[Node]) -> list[Node]:
        """Return [a], the syntax node of `ELSE a` of CASE in a list, to tell it from WHEN branches (pairs)."""
        return children

    def searched_case(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `CASE WHEN a THEN b ... [ELSE c] END`."""
        otherwise = children.pop()[0] if isinstance(children[-1], list) else None
        return CaseWhen(None, tuple(children), otherwise, span_of_meta(meta))

    def simple_case(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `CASE subject WHEN a THEN b ... [ELSE c] END`."""
        otherwise = children.pop()[0] if isinstance(children[-1], list) else None
        return CaseWhen(children[0], tuple(children[1:]), otherwise, span_of_meta(meta))

    def cast(self, meta: Meta, children: list[Any]) -> Node:
        """Build the syntax node of `CAST(a AS type)`."""
        return CastTo(children[0], str(children[1]).lower(), span_of_meta(meta), span_of(children[1]), str(children[1]))

    def name(self, meta: Meta, children: list[str]) -> Node:
        """Build the syntax node of an attribute name, with a qualifier if it has one."""
        return Name(children[0] if len(children) == 2 else None, children[-1], span_of_meta(meta))

    def identifier(self, meta: Meta, children: list[Token]) -> str:
        """Return the text of an unquoted identifier, as a plain string."""
        return str(children[0])

    def quoted(self, meta: Meta, children: list[Token]) -> str:
        """Return the text of an identifier in double quotes, without the quotes."""
        return unquote(children[0])


Clause = tuple[dict[str, Any], int]
"""The fields of SELECT that a clause sets, and the offset at which it begins."""


@v_args(meta=True)
class ClauseBuilder(ExpressionBuilder):
    """Builds the clauses of SELECT that all SQL-like languages share."""

    def everything(self, meta: Meta, children: list[Any]) -> Span:
        """Return the span of the `*` in `SELECT *`."""
        return span_of_meta(meta)

    def item(self, meta: Meta, children: list[Any]) -> SelectItem:
        """Build the syntax node of a select item: an expression, with an alias if it has one."""
        return SelectItem(children[0], children[1] if len(children) == 2 else None, span_of_meta(meta))

    def where_clause(self, meta: Meta, children: list[Node]) -> Clause:
        """Return a dict with the field `where` of the SELECT node, and the clause's offset in the query text."""
        return {"where": children[0]}, meta.start_pos

    def group_clause(self, meta: Meta, children: list[Node]) -> Clause:
        """Return GROUP BY as the field `group_by` of the SELECT node, with its offset in the query text."""
        return {"group_by": tuple(children)}, meta.start_pos

    def having_clause(self, meta: Meta, children: list[Node]) -> Clause:
        """Return a dict with the field `having` of the SELECT node, and the clause's offset in the query text."""
        return {"having": children[0]}, meta.start_pos


def whole_number(token: Token, largest: int = INTEGER_MAX) -> int:
    """Return the value of a token of digits; raises ParseError at the token if it is larger than `largest`."""
    digits = token.lstrip("0") or "0"
    if len(digits) > 19 or int(digits) > largest:
        raise ParseError(TOO_LARGE, span=span_of(token), hint=f"the largest is {INTEGER_MAX}")
    return int(digits)


def unquote(token: str) -> str:
    """Strip the quotes of a string or identifier token and replace doubled quotes by single ones."""
    return token[1:-1].replace(token[0] * 2, token[0])
