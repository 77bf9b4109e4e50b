"""Terms, triples, paths and expressions: parse tree to syntax."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

from lark import Token
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive, v_args

from transom.errors import ParseError, Span
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.characters import Places, unquote
from transom.languages.sparql.syntax import Expression, Group
from transom.languages.sparql.terms import Number, Path, Statement, Variable
from transom.languages.sql.parse import span_of

ARGUMENTS = {
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    "BNODE": (0, 1),
    **dict.fromkeys(
        ("LANGMATCHES", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "STRLANG", "STRDT", "SAMETERM"),
        (2, 2),
    ),
    **dict.fromkeys(("REGEX", "SUBSTR"), (2, 3)),
    "REPLACE": (3, 4),
    "IF": (3, 3),
    **dict.fromkeys(("COALESCE", "CONCAT"), (0, None)),
}
"""How many arguments a built-in function takes, where it is not one."""
SAME = {"URI": "IRI", "ISURI": "ISIRI"}


@v_args(meta=True)
class Terms(Transformer_NonRecursive[Token, Any]):
    """Builds terms, triples, paths and expressions; the builder of queries adds clauses and patterns."""

    def __init__(self, places: Places) -> None:
        super().__init__()
        self.places = places

    def at(self, meta: Meta) -> Span:
        """Where a piece of the tree stands in the user's text."""
        return Span(0, 0) if meta.empty else self.places.span(Span(meta.start_pos, meta.end_pos))

    def on(self, token: Token) -> Span:
        """Where a token stands in the user's text."""
        return self.places.span(span_of(token))

    # triples and paths

    def triples_block(self, meta: Meta, children: list[Any]) -> syntax.TriplesBlock:
        return syntax.TriplesBlock(children[0], self.at(meta))

    def triples(self, meta: Meta, children: list[Statement]) -> tuple[Statement, ...]:
        return tuple(children)

    def statement(self, meta: Meta, children: list[Any]) -> Statement:
        return Statement(children[0], children[1] if len(children) == 2 else (), self.at(meta))

    def properties(self, meta: Meta, children: list[terms.Property]) -> tuple[terms.Property, ...]:
        return tuple(children)

    def property(self, meta: Meta, children: list[Any]) -> terms.Property:
        return terms.Property(children[0], tuple(children[1:]), self.at(meta))

    def collection(self, meta: Meta, children: list[terms.Node]) -> terms.Collection:
        return terms.Collection(tuple(children), self.at(meta))

    empty_list = collection

    def described(self, meta: Meta, children: list[Any]) -> terms.Described:
        return terms.Described(children[0], self.at(meta))

    def anonymous(self, meta: Meta, children: list[Any]) -> terms.Described:
        return terms.Described((), self.at(meta))

    def blank(self, meta: Meta, children: list[Token]) -> terms.BlankNode:
        return terms.BlankNode(str(children[0][2:]), self.at(meta))

    def path_alternative(self, meta: Meta, children: list[Path]) -> Path:
        return terms.Alternative(tuple(children), self.at(meta))

    def path_sequence(self, meta: Meta, children: list[Path]) -> Path:
        return terms.Sequence(tuple(children), self.at(meta))

    def path_inverse(self, meta: Meta, children: list[Path]) -> Path:
        return terms.Inverse(children[0], self.at(meta))

    def path_repeat(self, meta: Meta, children: list[Any]) -> Path:
        sign: Any = str(children[1])
        return terms.Repeat(children[0], sign, self.at(meta))

    def path_negated(self, meta: Meta, children: list[Any]) -> Path:
        return terms.NoneOf(tuple(children), self.at(meta))

    def type(self, meta: Meta, children: list[Token]) -> terms.Iri:
        return terms.Iri(terms.RDF_TYPE, self.at(meta))

    # expressions

    def disjunction(self, meta: Meta, children: list[Expression]) -> Expression:
        return syntax.Junction("||", tuple(children), self.at(meta))

    def conjunction(self, meta: Meta, children: list[Expression]) -> Expression:
        return syntax.Junction("&&", tuple(children), self.at(meta))

    def binary(self, meta: Meta, children: list[Any]) -> Expression:
        return syntax.Binary(str(children[1]), children[0], children[2], self.at(meta))

    def signed_sum(self, meta: Meta, children: list[Any]) -> Expression:
        sign, right = _split_sign(children[1])
        return syntax.Binary(sign, children[0], right, self.at(meta))

    def unary(self, meta: Meta, children: list[Any]) -> Expression:
        operator: Any = str(children[0])
        return syntax.Unary(operator, children[1], self.at(meta))

    def member(self, meta: Meta, children: list[Any]) -> Expression:
        return syntax.Member(children[0], children[1], False, self.at(meta))

    def no_member(self, meta: Meta, children: list[Any]) -> Expression:
        return syntax.Member(children[0], children[1], True, self.at(meta))

    def arguments(self, meta: Meta, children: list[Expression]) -> tuple[Expression, ...]:
        return tuple(children)

    def call(self, meta: Meta, children: list[Any]) -> Expression:
        name, given = str(children[0].upper()), children[1]
        least, most = ARGUMENTS.get(name, (1, 1))
        if len(given) < least or (most is not None and len(given) > most):
            wanted = f"{least}" if least == most else f"{least} to {most}"
            plural = "" if wanted == "1" else "s"
            raise ParseError(
                f"{name} takes {wanted} argument{plural}", span=self.at(meta), hint=f"this one has {len(given)}"
            )
        if name == "BOUND" and not isinstance(given[0], Variable):
            raise ParseError("BOUND takes a variable", span=self.at(meta), hint="write for example BOUND(?x)")
        return syntax.Builtin(SAME.get(name, name), given, self.at(meta))

    def aggregate(self, meta: Meta, children: list[Any]) -> Expression:
        name, rest = str(children[0].upper()), children[1:]
        distinct = isinstance(rest[0], Token) and rest[0].type == "DISTINCT"
        operand, *separator = rest[1:] if distinct else rest
        if isinstance(operand, Token) and name != "COUNT":
            raise ParseError("only COUNT takes *", span=self.at(meta), hint=f"write for example {name}(?x)")
        if separator and name != "GROUP_CONCAT":
            raise ParseError(f"{name} has no SEPARATOR", span=self.at(meta), hint="only GROUP_CONCAT has one")
        star = isinstance(operand, Token)
        return syntax.Aggregate(
            name, None if star else operand, distinct, separator[0] if separator else None, self.at(meta)
        )

    def separator(self, meta: Meta, children: list[str]) -> str:
        return children[0]

    def named_call(self, meta: Meta, children: list[Any]) -> Expression:
        distinct = len(children) > 1 and isinstance(children[1], Token)
        return syntax.NamedCall(children[0], tuple(children[2 if distinct else 1 :]), distinct, self.at(meta))

    def exists(self, meta: Meta, children: list[Group]) -> Expression:
        return syntax.Exists(children[0], False, self.at(meta))

    def not_exists(self, meta: Meta, children: list[Group]) -> Expression:
        return syntax.Exists(children[0], True, self.at(meta))

    # terms

    def var(self, meta: Meta, children: list[Token]) -> Variable:
        return Variable(str(children[0][1:]), self.at(meta))

    def iri(self, meta: Meta, children: list[Token]) -> terms.Iri:
        return terms.Iri(children[0][1:-1], self.at(meta))

    def prefixed(self, meta: Meta, children: list[Token]) -> terms.PrefixedName:
        prefix, _, local = children[0].partition(":")
        return terms.PrefixedName(prefix, re.sub(r"\\(.)", r"\1", local), self.at(meta))

    def number(self, meta: Meta, children: list[Token]) -> Number:
        return Number(str(children[0]), self.at(meta))

    signed_number = number

    def boolean(self, meta: Meta, children: list[Token]) -> terms.Boolean:
        return terms.Boolean(children[0].lower() == "true", self.at(meta))

    def string(self, meta: Meta, children: list[Token]) -> str:
        return unquote(children[0])

    def string_literal(self, meta: Meta, children: list[Any]) -> terms.Text:
        value, *more = children
        language = str(more[0][1:]) if more and isinstance(more[0], Token) else None
        datatype = more[0] if more and language is None else None
        return terms.Text(value, language, datatype, self.at(meta))


def _split_sign(signed: Any) -> tuple[Literal["+", "-"], Expression]:
    """The sign of the number that a product begins with, and the product without it."""
    if isinstance(signed, syntax.Binary):
        sign, left = _split_sign(signed.left)
        return sign, replace(signed, left=left)
    number: Number = signed
    return "-" if number.digits[0] == "-" else "+", replace(number, digits=number.digits[1:])
