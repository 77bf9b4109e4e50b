"""Values between nested functions: an SQL expression, and the shape in which it represents a term."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from transom.model.rdf.compare import effective_boolean_value as truth_of
from transom.model.rdf.ntriples import encode_term
from transom.model.rdf.terms import Literal, Term
from transom.model.rdf.values import NumericValue, StringValue, value_of
from transom.spark.expressions.sql import F, Sql, let
from transom.spark.rdf.terms import arithmetic, compare
from transom.spark.rdf.terms.numerals import number_term
from transom.spark.rdf.terms.spelling import (
    LiteralSuffix,
    TermText,
    boolean_term,
    is_literal,
    is_string,
    language_tag,
    lexical,
    literal_suffix,
    literal_term,
)
from transom.spark.rdf.terms.values import (
    NumberStruct,
    TextStruct,
    ValueClass,
    ValueStruct,
    constant_value,
    term_number,
    term_value,
    value_struct,
)


class TermShape(Enum):
    """What an expression holds: a spelled term, a boolean, a number, characters, or characters with a language."""

    TERM = "term"
    TRUTH = "truth"
    NUMBER = "number"
    CHARACTERS = "characters"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ShapedTerm:
    """A value: its expression, the shape of it, and the term itself if it is a constant of the query.

    `is_short` marks an expression that is cheap to repeat: a name or a constant.
    """

    shape: TermShape
    column: Sql
    constant: Term | None = None
    is_short: bool = False

    def term(self) -> TermText:
        """The value as an RDF term in N-Triples text."""
        match self.shape:
            case TermShape.TERM:
                return self.column
            case TermShape.TRUTH:
                return let([self.column], boolean_term)
            case TermShape.NUMBER:
                return let([self.column], number_term)
            case TermShape.CHARACTERS:
                return let([self.column], literal_term)
            case TermShape.TEXT:
                return let([self.column], _text_term)

    def truth(self) -> Sql:
        """The effective boolean value of this value, as SPARQL defines it; NULL (an error) if there is none."""
        if self.constant is not None:
            return F.lit(truth_of(self.constant)).cast("boolean")
        match self.shape:
            case TermShape.TERM:
                return self._bind(compare.effective_boolean)
            case TermShape.TRUTH:
                return self.column
            case TermShape.NUMBER:
                return let([self.column], lambda number: F.when(number.isNotNull(), arithmetic.is_true(number)))
            case TermShape.CHARACTERS:
                return self.column != F.lit("")
            case TermShape.TEXT:
                return self.column["s"] != F.lit("")

    def number(self) -> NumberStruct:
        """The value as a number struct (kind, exact value, float value); NULL if the value is not a number."""
        if self.constant is not None:
            value = value_of(self.constant) if isinstance(self.constant, Literal) else None
            return constant_value(self.constant) if isinstance(value, NumericValue) else _no_value()
        match self.shape:
            case TermShape.TERM:
                return self._bind(term_number)
            case TermShape.NUMBER:
                return self.column
            case _:
                return _no_value()

    def text(self) -> TextStruct:
        """The value as a parsed string with its language; NULL if the value is not a string."""
        if self.constant is not None:
            value = value_of(self.constant) if isinstance(self.constant, Literal) else None
            return constant_value(self.constant) if isinstance(value, StringValue) else _no_value()
        match self.shape:
            case TermShape.TERM:
                return self._bind(_text_struct)
            case TermShape.CHARACTERS:
                return let(
                    [self.column],
                    lambda value: F.when(value.isNotNull(), value_struct(ValueClass.TEXT, string=value, language="")),
                )
            case TermShape.TEXT:
                return self.column
            case _:
                return _no_value()

    def characters(self) -> Sql:
        """The characters of a string without a language tag; NULL for all other values."""
        if self.constant is not None:
            value = value_of(self.constant) if isinstance(self.constant, Literal) else None
            return F.lit(value.text if isinstance(value, StringValue) and not value.language else None).cast("string")
        match self.shape:
            case TermShape.TERM:
                return self._bind(_plain_characters)
            case TermShape.CHARACTERS:
                return self.column
            case TermShape.TEXT:
                return let([self.column], lambda value: F.when(value["l"] == "", value["s"]))
            case _:
                return F.lit(None).cast("string")

    def value(self) -> ValueStruct:
        """The parsed value of any class (number, string, boolean, ...) as a struct; NULL if there is no term."""
        if self.constant is not None:
            return constant_value(self.constant)
        match self.shape:
            case TermShape.TERM:
                return self._bind(term_value)
            case TermShape.TRUTH:
                return let(
                    [self.column],
                    lambda truth: F.when(truth.isNotNull(), value_struct(ValueClass.TRUTH, number=truth.cast("int"))),
                )
            case TermShape.NUMBER | TermShape.TEXT:
                return self.column
            case TermShape.CHARACTERS:
                return self.text()

    def _bind(self, body: Callable[[Sql], Sql]) -> Sql:
        """Apply `body` to the value's SQL expression; a long expression is first bound to a lambda variable."""
        return body(self.column) if self.is_short else let([self.column], body)


def _no_value() -> ValueStruct:
    """Build a NULL that has the struct type of parsed values."""
    return F.lit(None).cast("struct<c:int,k:bigint,n:decimal(38,0),f:double,s:string,l:string>")


def no_term() -> ShapedTerm:
    """Return the ShapedTerm (SQL and its representation) of an unbound variable or an error: NULL."""
    return ShapedTerm(TermShape.TERM, F.lit(None).cast("string"), is_short=True)


def constant_term(term: Term) -> ShapedTerm:
    """Wrap a constant RDF term as a ShapedTerm: SQL with its N-Triples text, and the term itself."""
    return ShapedTerm(TermShape.TERM, F.lit(encode_term(term)), term, is_short=True)


def truth_term(column: Sql) -> ShapedTerm:
    """Wrap a boolean SQL expression as a ShapedTerm, which says how SQL represents an RDF term."""
    return ShapedTerm(TermShape.TRUTH, column)


def bind_once(operands: Sequence[ShapedTerm], body: Callable[..., ShapedTerm]) -> ShapedTerm:
    """Apply `body` to operands; those that are costly to repeat are bound to lambda variables first."""
    long_positions = [n for n, operand in enumerate(operands) if not operand.is_short]
    if not long_positions:
        return body(*operands)
    shape: list[TermShape] = []

    def apply(*variables: Sql) -> Sql:
        """Apply `body` with lambda variables instead of long operands, and return the SQL expression of its result."""
        bound = dict(zip(long_positions, variables, strict=True))
        result = body(
            *(
                replace(operand, column=bound[n], is_short=True) if n in bound else operand
                for n, operand in enumerate(operands)
            )
        )
        shape.append(result.shape)
        return result.column

    column = let([operands[n].column for n in long_positions], apply)
    return ShapedTerm(shape[0], column)


def _text_struct(term: TermText) -> TextStruct:
    """Parse a string literal, given as N-Triples text, to a string with its language; NULL for other terms."""

    def read(suffix: LiteralSuffix) -> TextStruct:
        """Parse the literal as a string struct; `suffix` is what follows its closing quote; NULL if no string."""
        return F.when(
            is_string(suffix),
            value_struct(ValueClass.TEXT, string=lexical(term, suffix), language=language_tag(suffix)),
        )

    return F.when(is_literal(term), let([literal_suffix(term)], read))


def _plain_characters(term: TermText) -> Sql:
    """Return the characters of a string literal (N-Triples text) without language tag; NULL for other terms."""

    def read(suffix: LiteralSuffix) -> Sql:
        """Return the literal's characters; NULL if `suffix`, its language tag or datatype, makes it not plain."""
        return F.when(is_string(suffix) & ~F.startswith(suffix, F.lit("@")), lexical(term, suffix))

    return F.when(is_literal(term), let([literal_suffix(term)], read))


def _text_term(text: TextStruct) -> TermText:
    """Write a parsed string with its language as a literal in N-Triples text."""
    suffix = F.when(text["l"] == "", F.lit("")).otherwise(F.concat(F.lit("@"), text["l"]))
    return literal_term(text["s"], suffix)
