"""The functions of SPARQL 1.1 on strings, on Spark; NULL is an error."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from transom.model.rdf.terms import IRI, LANG_STRING, STRING, Literal
from transom.model.rdf.values import Kind
from transom.spark.sql import F, Sql, let
from transom.spark.term_shapes import Shape, Shaped, of_constant, truths
from transom.spark.term_spelling import is_name, literal
from transom.spark.term_values import Class, exact, packed

_LONG = 2**30
"""No string is longer than this, so places and lengths are cut off there."""

_TAG = r"\A[A-Za-z]+(?:-[A-Za-z0-9]+)*\z"
_NAME = r"\A[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\z"


def _text(column: Sql) -> Shaped:
    return Shaped(Shape.TEXT, column)


def like(text: Sql, characters: Sql) -> Sql:
    """Other characters in the same language."""
    return F.when(text.isNotNull(), packed(Class.TEXT, s=characters, l=text["l"]))


def whole(number: Sql) -> Shaped:
    """A whole number, NULL where there is none."""
    column = let([number], lambda n: F.when(n.isNotNull(), packed(Class.NUMBER, k=int(Kind.INTEGER), n=n)))
    return Shaped(Shape.NUMBER, column)


def length(one: Shaped) -> Shaped:
    """How many characters."""
    return whole(F.length(one.text()["s"]))


def _place(number: Sql) -> Sql:
    """A place in a string from a whole number of any size."""
    last = exact(_LONG)
    return F.when(number < exact(1), F.lit(1)).when(number > last, F.lit(_LONG)).otherwise(number.try_cast("int"))


def part(one: Shaped, start: Shaped, count: Shaped | None = None) -> Shaped:
    """The characters from a place on, counted from 1, and at most so many."""

    def integer(given: Shaped) -> Sql:
        return let([given.number()], lambda own: F.when(own["k"] == int(Kind.INTEGER), own["n"]))

    def cut(text: Sql, begin: Sql, most: Sql) -> Sql:
        first = _place(begin)
        end = _place(F.coalesce(F.try_add(begin, most), most))
        kept = F.substring(text["s"], first, F.greatest(end - first, F.lit(0)))
        return F.when(begin.isNotNull() & most.isNotNull(), like(text, kept))

    # without a count, one that reaches beyond any end from wherever it begins
    most = exact(10**38 - 1) if count is None else integer(count)
    return _text(let([one.text(), integer(start), most], cut))


def changed(function: Callable[[Sql], Sql]) -> Callable[[Shaped], Shaped]:
    """A function that changes the characters only."""
    return lambda one: _text(let([one.text()], lambda text: like(text, function(text["s"]))))


def _together(first: Sql, second: Sql) -> Sql:
    """Whether two strings go together: the second has no language or the same."""
    return (second["l"] == F.lit("")) | (second["l"] == first["l"])


def tested(function: Callable[[Sql, Sql], Sql]) -> Callable[[Shaped, Shaped], Shaped]:
    """Whether something is so of two strings that go together."""

    def lowered(one: Shaped, other: Shaped) -> Shaped:
        def asked(first: Sql, second: Sql) -> Sql:
            return F.when(_together(first, second), function(first["s"], second["s"]))

        return truths(let([one.text(), other.text()], asked))

    return lowered


def _around(kept: Callable[[Sql, Sql, Sql], Sql]) -> Callable[[Shaped, Shaped], Shaped]:
    def lowered(one: Shaped, other: Shaped) -> Shaped:
        def cut(first: Sql, second: Sql, place: Sql) -> Sql:
            found = like(first, kept(first["s"], second["s"], place))
            missing = packed(Class.TEXT, s="", l="")
            return F.when(_together(first, second), F.when(place > 0, found).when(place == 0, missing))

        def placed(first: Sql, second: Sql) -> Sql:
            return let([first, second, F.position(second["s"], first["s"])], cut)

        return _text(let([one.text(), other.text()], placed))

    return lowered


before = _around(lambda text, _, place: F.substring(text, F.lit(1), place - F.lit(1)))
after = _around(lambda text, cut, place: F.substring(text, place + F.length(cut), F.length(text)))


def encoded(one: Shaped) -> Shaped:
    """With all but letters, digits and - _ . ~ in percent signs; Java's own form differs in three signs."""
    java = F.url_encode(one.text()["s"])
    for sign, wanted in (("+", "%20"), ("*", "%2A"), ("%7E", "~")):
        java = F.replace(java, F.lit(sign), F.lit(wanted))
    return Shaped(Shape.CHARACTERS, java)


def concatenated(*given: Shaped) -> Shaped:
    """One after the other; in a language where all are in the same one."""
    if not given:
        return of_constant(Literal(""))

    def joined(*texts: Sql) -> Sql:
        alike = reduce(and_, (text["l"] == texts[0]["l"] for text in texts))
        there = reduce(and_, (text.isNotNull() for text in texts))
        language = F.when(alike, texts[0]["l"]).otherwise(F.lit(""))
        return F.when(there, packed(Class.TEXT, s=F.concat(*(text["s"] for text in texts)), l=language))

    return _text(let([own.text() for own in given], joined))


def lang_matches(tag: Shaped, wanted: Shaped) -> Shaped:
    """Whether a tag lies in a range: itself, a beginning of it, or * for any."""

    def asked(one: Sql, range_: Sql) -> Sql:
        begins = (range_ != F.lit("")) & F.startswith(one, F.concat(range_, F.lit("-")))
        return F.when(range_ == F.lit("*"), one != F.lit("")).otherwise((one == range_) | begins)

    return truths(let([F.lower(tag.characters()), F.lower(wanted.characters())], asked))


def in_language(one: Shaped, tag: Shaped) -> Shaped:
    """A literal of characters and a language."""

    def made(text: Sql, language: Sql) -> Sql:
        good = text.isNotNull() & F.rlike(language, F.lit(_TAG))
        return F.when(good, packed(Class.TEXT, s=text, l=F.lower(language)))

    return _text(let([one.characters(), tag.characters()], made))


def typed(one: Shaped, datatype: Shaped) -> Shaped:
    """A literal of characters and a datatype."""

    def made(text: Sql, name: Sql) -> Sql:
        last = F.when(name == F.lit(str(IRI(STRING))), F.lit("")).otherwise(F.concat(F.lit("^^"), name))
        return F.when(is_name(name) & (name != F.lit(str(IRI(LANG_STRING)))), literal(text, last))

    return Shaped(Shape.TERM, let([one.characters(), datatype.term()], made))


def name(one: Shaped) -> Shaped:
    """The name that a string spells."""

    def made(term: Sql, characters: Sql) -> Sql:
        spelled = F.concat(F.lit("<"), characters, F.lit(">"))
        return F.when(is_name(term), term).when(F.rlike(characters, F.lit(_NAME)), spelled)

    term = one.column if one.shape is Shape.TERM else F.lit(None).cast("string")
    return Shaped(Shape.TERM, let([term, one.characters()], made))


def digest(function: Callable[[Sql], Sql]) -> Callable[[Shaped], Shaped]:
    """A digest of the characters of a string without a language."""
    return lambda one: Shaped(Shape.CHARACTERS, function(one.characters()))
