"""Builds the syntax of terms, triples, paths and expressions from the parse tree."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

from lark import Token
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive, v_args

from transom.errors import ParseError, Span
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.characters import OffsetMap, unquote
from transom.languages.sparql.syntax import Expression, GroupPattern
from transom.languages.sparql.terms import NumericLiteral, PropertyPath, TriplesSameSubject, Variable
from transom.languages.sql.parse import span_of

ARGUMENT_COUNTS = {
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
"""Least and most arguments of built-in functions that do not take exactly one; None means no limit."""
FUNCTION_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}


@v_args(meta=True)
class TermBuilder(Transformer_NonRecursive[Token, Any]):
    """Builds terms, triples, paths and expressions; the builder of queries adds clauses and patterns."""

    def __init__(self, offsets: OffsetMap) -> None:
        """Create a builder of syntax nodes; `offsets` leads from the unescaped text back to the original text."""
        super().__init__()
        self.offsets = offsets

    def node_span(self, meta: Meta) -> Span:
        """Return the span of a parse tree node in the original text; (0, 0) if the node is empty."""
        return Span(0, 0) if meta.empty else self.offsets.span(Span(meta.start_pos, meta.end_pos))

    def token_span(self, token: Token) -> Span:
        """Return the span of a token in the original text."""
        return self.offsets.span(span_of(token))

    # triples and paths

    def triples_block(self, meta: Meta, children: list[Any]) -> syntax.TriplesBlock:
        """Build the syntax node of a block of consecutive triples."""
        return syntax.TriplesBlock(children[0], self.node_span(meta))

    def triples(self, meta: Meta, children: list[TriplesSameSubject]) -> tuple[TriplesSameSubject, ...]:
        """Return the triples of a block or a CONSTRUCT template as a tuple with a node for each subject."""
        return tuple(children)

    def statement(self, meta: Meta, children: list[Any]) -> TriplesSameSubject:
        """Build the syntax node of a subject with its predicates and objects."""
        return TriplesSameSubject(children[0], children[1] if len(children) == 2 else (), self.node_span(meta))

    def properties(
        self, meta: Meta, children: list[terms.PredicateObjectList]
    ) -> tuple[terms.PredicateObjectList, ...]:
        """Return the predicates of a subject with their objects, which semicolons separate, as a tuple."""
        return tuple(children)

    def property(self, meta: Meta, children: list[Any]) -> terms.PredicateObjectList:
        """Build the syntax node of a predicate with its objects, which commas separate."""
        return terms.PredicateObjectList(children[0], tuple(children[1:]), self.node_span(meta))

    def collection(self, meta: Meta, children: list[terms.Node]) -> terms.RdfCollection:
        """Build the syntax node of an RDF list `( a b ... )`."""
        return terms.RdfCollection(tuple(children), self.node_span(meta))

    empty_list = collection

    def described(self, meta: Meta, children: list[Any]) -> terms.BlankNodePropertyList:
        """Build the syntax node of a blank node with properties: `[ predicate object ... ]`."""
        return terms.BlankNodePropertyList(children[0], self.node_span(meta))

    def anonymous(self, meta: Meta, children: list[Any]) -> terms.BlankNodePropertyList:
        """Build the syntax node of an anonymous blank node: `[]`."""
        return terms.BlankNodePropertyList((), self.node_span(meta))

    def blank(self, meta: Meta, children: list[Token]) -> terms.BlankNode:
        """Build the syntax node of a labelled blank node: `_:label`."""
        return terms.BlankNode(str(children[0][2:]), self.node_span(meta))

    def path_alternative(self, meta: Meta, children: list[PropertyPath]) -> PropertyPath:
        """Build the syntax node of the property path `p|q|...`."""
        return terms.AlternativePath(tuple(children), self.node_span(meta))

    def path_sequence(self, meta: Meta, children: list[PropertyPath]) -> PropertyPath:
        """Build the syntax node of the property path `p/q/...`."""
        return terms.SequencePath(tuple(children), self.node_span(meta))

    def path_inverse(self, meta: Meta, children: list[PropertyPath]) -> PropertyPath:
        """Build the syntax node of the property path `^p`."""
        return terms.InversePath(children[0], self.node_span(meta))

    def path_repeat(self, meta: Meta, children: list[Any]) -> PropertyPath:
        """Build the syntax node of the property path `p*`, `p+` or `p?`."""
        sign: Any = str(children[1])
        return terms.RepeatedPath(children[0], sign, self.node_span(meta))

    def path_negated(self, meta: Meta, children: list[Any]) -> PropertyPath:
        """Build the syntax node of the property path `!(p|^q|...)`."""
        return terms.NegatedPropertySet(tuple(children), self.node_span(meta))

    def type(self, meta: Meta, children: list[Token]) -> terms.Iri:
        """Build the syntax node of the predicate `a`, which is rdf:type."""
        return terms.Iri(terms.RDF_TYPE, self.node_span(meta))

    # expressions

    def disjunction(self, meta: Meta, children: list[Expression]) -> Expression:
        """Build the syntax node of `a || b || ...`."""
        return syntax.Logic("||", tuple(children), self.node_span(meta))

    def conjunction(self, meta: Meta, children: list[Expression]) -> Expression:
        """Build the syntax node of `a && b && ...`."""
        return syntax.Logic("&&", tuple(children), self.node_span(meta))

    def binary(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of a comparison or of arithmetic such as `a < b` or `a + b`."""
        return syntax.Binary(str(children[1]), children[0], children[2], self.node_span(meta))

    def signed_sum(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of a sum whose right operand is a signed number: `a -1` is `a - 1`."""
        sign, right = _split_sign(children[1])
        return syntax.Binary(sign, children[0], right, self.node_span(meta))

    def unary(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of `!a`, `+a` or `-a`."""
        operator: Any = str(children[0])
        return syntax.Unary(operator, children[1], self.node_span(meta))

    def member(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of `a IN (b, c, ...)`."""
        return syntax.InList(children[0], children[1], False, self.node_span(meta))

    def no_member(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of `a NOT IN (b, c, ...)`."""
        return syntax.InList(children[0], children[1], True, self.node_span(meta))

    def arguments(self, meta: Meta, children: list[Expression]) -> tuple[Expression, ...]:
        """Return the arguments of a function call, or the options of IN, as a tuple."""
        return tuple(children)

    def call(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of a call of a built-in function; raises ParseError for a wrong number of arguments."""
        name, arguments = str(children[0].upper()), children[1]
        least, most = ARGUMENT_COUNTS.get(name, (1, 1))
        if len(arguments) < least or (most is not None and len(arguments) > most):
            expected = f"{least}" if least == most else f"{least} to {most}"
            plural = "" if expected == "1" else "s"
            raise ParseError(
                f"{name} takes {expected} argument{plural}",
                span=self.node_span(meta),
                hint=f"this one has {len(arguments)}",
            )
        if name == "BOUND" and not isinstance(arguments[0], Variable):
            raise ParseError("BOUND takes a variable", span=self.node_span(meta), hint="write for example BOUND(?x)")
        return syntax.BuiltinCall(FUNCTION_SYNONYMS.get(name, name), arguments, self.node_span(meta))

    def aggregate(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of an aggregate such as `COUNT(DISTINCT ?x)`.

        Raises ParseError for a wrong `*` or SEPARATOR.
        """
        name, parts = str(children[0].upper()), children[1:]
        distinct = isinstance(parts[0], Token) and parts[0].type == "DISTINCT"
        operand, *separator = parts[1:] if distinct else parts
        if isinstance(operand, Token) and name != "COUNT":
            raise ParseError("only COUNT takes *", span=self.node_span(meta), hint=f"write for example {name}(?x)")
        if separator and name != "GROUP_CONCAT":
            raise ParseError(f"{name} has no SEPARATOR", span=self.node_span(meta), hint="only GROUP_CONCAT has one")
        star = isinstance(operand, Token)
        return syntax.Aggregate(
            name, None if star else operand, distinct, separator[0] if separator else None, self.node_span(meta)
        )

    def separator(self, meta: Meta, children: list[str]) -> str:
        """Return the string of `SEPARATOR = "..."` in a call of GROUP_CONCAT."""
        return children[0]

    def named_call(self, meta: Meta, children: list[Any]) -> Expression:
        """Build the syntax node of a function called by its IRI, such as `xsd:integer(?x)`."""
        distinct = len(children) > 1 and isinstance(children[1], Token)
        return syntax.IriCall(children[0], tuple(children[2 if distinct else 1 :]), distinct, self.node_span(meta))

    def exists(self, meta: Meta, children: list[GroupPattern]) -> Expression:
        """Build the syntax node of `EXISTS { ... }`."""
        return syntax.Exists(children[0], False, self.node_span(meta))

    def not_exists(self, meta: Meta, children: list[GroupPattern]) -> Expression:
        """Build the syntax node of `NOT EXISTS { ... }`."""
        return syntax.Exists(children[0], True, self.node_span(meta))

    # terms

    def var(self, meta: Meta, children: list[Token]) -> Variable:
        """Build the syntax node of a variable: `?name` or `$name`."""
        return Variable(str(children[0][1:]), self.node_span(meta))

    def iri(self, meta: Meta, children: list[Token]) -> terms.Iri:
        """Build the syntax node of an IRI in angle brackets."""
        return terms.Iri(children[0][1:-1], self.node_span(meta))

    def prefixed(self, meta: Meta, children: list[Token]) -> terms.PrefixedName:
        """Build the syntax node of `prefix:local`, with the escapes of the local part decoded."""
        prefix, _, local = children[0].partition(":")
        return terms.PrefixedName(prefix, re.sub(r"\\(.)", r"\1", local), self.node_span(meta))

    def number(self, meta: Meta, children: list[Token]) -> NumericLiteral:
        """Build the syntax node of a number literal, whose datatype depends on how it is written."""
        return NumericLiteral(str(children[0]), self.node_span(meta))

    signed_number = number

    def boolean(self, meta: Meta, children: list[Token]) -> terms.BooleanLiteral:
        """Build the syntax node of `true` or `false`."""
        return terms.BooleanLiteral(children[0].lower() == "true", self.node_span(meta))

    def string(self, meta: Meta, children: list[Token]) -> str:
        """Return the text of a quoted string, without its quotes and with its escapes decoded."""
        return unquote(children[0])

    def string_literal(self, meta: Meta, children: list[Any]) -> terms.StringLiteral:
        """Build the syntax node of a string literal, with a language tag or a datatype if it has one."""
        value, *annotation = children
        language = str(annotation[0][1:]) if annotation and isinstance(annotation[0], Token) else None
        datatype = annotation[0] if annotation and language is None else None
        return terms.StringLiteral(value, language, datatype, self.node_span(meta))


def _split_sign(signed: Any) -> tuple[Literal["+", "-"], Expression]:
    """Split a signed number, or a product that begins with one, into the sign and the expression without it."""
    if isinstance(signed, syntax.Binary):
        sign, left = _split_sign(signed.left)
        return sign, replace(signed, left=left)
    number: NumericLiteral = signed
    return "-" if number.digits[0] == "-" else "+", replace(number, digits=number.digits[1:])
