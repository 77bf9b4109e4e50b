"""Values between functions: a column, and the shape in which it holds a term."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.rdf.compare import truth as truth_of
from transom.model.rdf.spelling import encode
from transom.model.rdf.terms import Literal, Term
from transom.model.rdf.values import Number, Text, value_of
from transom.spark import term_compare, term_numbers
from transom.spark.term_figures import number_term
from transom.spark.term_spelling import end, is_literal, is_text, lexical, literal, said, tag
from transom.spark.term_values import Class, constant, number, packed, parsed
from transom.spark.types import let


class Shape(Enum):
    """What a column holds: a spelled term, a truth value, a number, characters, or characters with a language."""

    TERM = "term"
    TRUTH = "truth"
    NUMBER = "number"
    CHARACTERS = "characters"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Shaped:
    """A value: its column, the shape of that, and the term itself where the query says it.

    `short` is a column that may be named as often as one likes: a name or a constant.
    """

    shape: Shape
    column: Column
    known: Term | None = None
    short: bool = False

    def term(self) -> Column:
        """The value as a term."""
        match self.shape:
            case Shape.TERM:
                return self.column
            case Shape.TRUTH:
                return let([self.column], said)
            case Shape.NUMBER:
                return let([self.column], number_term)
            case Shape.CHARACTERS:
                return let([self.column], literal)
            case Shape.TEXT:
                return let([self.column], _text_term)

    def truth(self) -> Column:
        """The effective boolean value."""
        if self.known is not None:
            return F.lit(truth_of(self.known)).cast("boolean")
        match self.shape:
            case Shape.TERM:
                return self._named(term_compare.truth)
            case Shape.TRUTH:
                return self.column
            case Shape.NUMBER:
                return let([self.column], lambda own: F.when(own.isNotNull(), term_numbers.is_true(own)))
            case Shape.CHARACTERS:
                return self.column != F.lit("")
            case Shape.TEXT:
                return self.column["s"] != F.lit("")

    def number(self) -> Column:
        """The number that it is, NULL where it is none."""
        if self.known is not None:
            own = value_of(self.known) if isinstance(self.known, Literal) else None
            return constant(self.known) if isinstance(own, Number) else _no_value()
        match self.shape:
            case Shape.TERM:
                return self._named(number)
            case Shape.NUMBER:
                return self.column
            case _:
                return _no_value()

    def text(self) -> Column:
        """The string that it is, with its language; NULL where it is none."""
        if self.known is not None:
            own = value_of(self.known) if isinstance(self.known, Literal) else None
            return constant(self.known) if isinstance(own, Text) else _no_value()
        match self.shape:
            case Shape.TERM:
                return self._named(_text)
            case Shape.CHARACTERS:
                return let([self.column], lambda own: F.when(own.isNotNull(), packed(Class.TEXT, s=own, l="")))
            case Shape.TEXT:
                return self.column
            case _:
                return _no_value()

    def characters(self) -> Column:
        """The characters of a string without a language, NULL where it is none."""
        if self.known is not None:
            own = value_of(self.known) if isinstance(self.known, Literal) else None
            return F.lit(own.text if isinstance(own, Text) and not own.language else None).cast("string")
        match self.shape:
            case Shape.TERM:
                return self._named(_characters)
            case Shape.CHARACTERS:
                return self.column
            case Shape.TEXT:
                return let([self.column], lambda own: F.when(own["l"] == "", own["s"]))
            case _:
                return F.lit(None).cast("string")

    def value(self) -> Column:
        """The value of whatever class it has; NULL where there is no term."""
        if self.known is not None:
            return constant(self.known)
        match self.shape:
            case Shape.TERM:
                return self._named(parsed)
            case Shape.TRUTH:
                return let([self.column], lambda own: F.when(own.isNotNull(), packed(Class.TRUTH, n=own.cast("int"))))
            case Shape.NUMBER | Shape.TEXT:
                return self.column
            case Shape.CHARACTERS:
                return self.text()

    def _named(self, body: Callable[[Column], Column]) -> Column:
        return body(self.column) if self.short else let([self.column], body)


def _no_value() -> Column:
    return F.lit(None).cast("struct<c:int,k:bigint,n:decimal(38,0),f:double,s:string,l:string>")


def nothing() -> Shaped:
    """No term at all."""
    return Shaped(Shape.TERM, F.lit(None).cast("string"), short=True)


def of_constant(term: Term) -> Shaped:
    """A term that the query says."""
    return Shaped(Shape.TERM, F.lit(encode(term)), term, short=True)


def truths(column: Column) -> Shaped:
    """A truth value."""
    return Shaped(Shape.TRUTH, column)


def bound(given: Sequence[Shaped], body: Callable[..., Shaped]) -> Shaped:
    """What `body` makes of values that it names more than once: what is long is bound first."""
    long = [place for place, own in enumerate(given) if not own.short]
    if not long:
        return body(*given)
    shape: list[Shape] = []

    def named(*names: Column) -> Column:
        chosen = dict(zip(long, names, strict=True))
        found = body(
            *(
                replace(own, column=chosen[place], short=True) if place in chosen else own
                for place, own in enumerate(given)
            )
        )
        shape.append(found.shape)
        return found.column

    column = let([given[place].column for place in long], named)
    return Shaped(shape[0], column)


def _text(term: Column) -> Column:
    def read(ended: Column) -> Column:
        return F.when(is_text(ended), packed(Class.TEXT, s=lexical(term, ended), l=tag(ended)))

    return F.when(is_literal(term), let([end(term)], read))


def _characters(term: Column) -> Column:
    def read(ended: Column) -> Column:
        return F.when(is_text(ended) & ~F.startswith(ended, F.lit("@")), lexical(term, ended))

    return F.when(is_literal(term), let([end(term)], read))


def _text_term(text: Column) -> Column:
    tagged = F.when(text["l"] == "", F.lit("")).otherwise(F.concat(F.lit("@"), text["l"]))
    return literal(text["s"], tagged)
