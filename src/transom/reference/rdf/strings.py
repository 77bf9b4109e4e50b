"""The functions of SPARQL 1.1 on strings (W3C 17.4.3); None is an error."""

from __future__ import annotations

from urllib.parse import quote

from transom.model.rdf.terms import Literal, Term, integer
from transom.model.rdf.values import NumericKind, StringValue, value_of
from transom.reference.rdf.numbers import numeric_value


def string_value(term: Term) -> StringValue | None:
    """The text and language of a string literal; None for other terms."""
    value = value_of(term) if isinstance(term, Literal) else None
    return value if isinstance(value, StringValue) else None


def simple_string(term: Term) -> str | None:
    """The text of a string literal without a language; None for other terms."""
    string = string_value(term)
    return string.text if string is not None and not string.language else None


def in_same_language(string: StringValue, text: str) -> Literal:
    """Create a string literal with new text and the language, if any, of another string."""
    return Literal(text, language=string.language)


def compatible_strings(first: Term, second: Term) -> tuple[StringValue, StringValue] | None:
    """Return both string values if the second has no language or the first one's (W3C 17.4.3.1.2); otherwise None."""
    string, argument = string_value(first), string_value(second)
    if string is None or argument is None or argument.language not in ("", string.language):
        return None
    return string, argument


def length(term: Term) -> Term | None:
    """SPARQL STRLEN: the number of characters of a string; None for other terms."""
    string = string_value(term)
    return integer(len(string.text)) if string is not None else None


def substring(term: Term, start: Term, count: Term | None = None) -> Term | None:
    """SPARQL SUBSTR: `count` characters (None: all the rest) from character `start`, counted from 1."""
    string, first, most = string_value(term), numeric_value(start), numeric_value(count) if count is not None else None
    if string is None or first is None or first.kind is not NumericKind.INTEGER:
        return None
    if count is not None and (most is None or most.kind is not NumericKind.INTEGER):
        return None
    begin = int(first.value)
    end = len(string.text) + 1 if most is None else begin + int(most.value)
    return in_same_language(string, string.text[max(begin, 1) - 1 : max(end, 1) - 1])


def upper(term: Term) -> Term | None:
    """SPARQL UCASE: the string in upper case; None for other terms."""
    string = string_value(term)
    return in_same_language(string, string.text.upper()) if string is not None else None


def lower(term: Term) -> Term | None:
    """SPARQL LCASE: the string in lower case; None for other terms."""
    string = string_value(term)
    return in_same_language(string, string.text.lower()) if string is not None else None


def starts_with(first: Term, second: Term) -> bool | None:
    """SPARQL STRSTARTS: whether the first string begins with the second; None if they are not compatible strings."""
    strings = compatible_strings(first, second)
    return strings[0].text.startswith(strings[1].text) if strings else None


def ends_with(first: Term, second: Term) -> bool | None:
    """SPARQL STRENDS: whether the first string ends with the second; None if they are not compatible strings."""
    strings = compatible_strings(first, second)
    return strings[0].text.endswith(strings[1].text) if strings else None


def contains(first: Term, second: Term) -> bool | None:
    """SPARQL CONTAINS: whether the second string is part of the first; None if they are not compatible strings."""
    strings = compatible_strings(first, second)
    return strings[1].text in strings[0].text if strings else None


def before(first: Term, second: Term) -> Term | None:
    """SPARQL STRBEFORE: the text before the second string, "" if it is not found; None if they are not compatible."""
    strings = compatible_strings(first, second)
    if strings is None:
        return None
    head, separator, _ = strings[0].text.partition(strings[1].text) if strings[1].text else ("", " ", "")
    return in_same_language(strings[0], head) if separator else Literal("")


def after(first: Term, second: Term) -> Term | None:
    """SPARQL STRAFTER: the text after the second string, "" if it is not found; None if they are not compatible."""
    strings = compatible_strings(first, second)
    if strings is None:
        return None
    _, separator, tail = strings[0].text.partition(strings[1].text) if strings[1].text else ("", " ", strings[0].text)
    return in_same_language(strings[0], tail) if separator else Literal("")


def percent_encode(term: Term) -> Term | None:
    """SPARQL ENCODE_FOR_URI: a string, percent-encoded except letters, digits and - _ . ~; None for other terms."""
    string = string_value(term)
    return Literal(quote(string.text, safe="")) if string is not None else None


def concat(*terms: Term) -> Term | None:
    """SPARQL CONCAT: the joined strings, with their language if all have the same; None if a term is not a string."""
    strings = [string for term in terms if (string := string_value(term)) is not None]
    if len(strings) < len(terms):
        return None
    languages = {string.language for string in strings}
    return Literal("".join(string.text for string in strings), language=languages.pop() if len(languages) == 1 else "")


def lang_matches(tag: Term, range: Term) -> bool | None:
    """SPARQL langMatches: whether a language tag is in a range, as de-AT is in de or in *; None for other terms."""
    language, prefix = simple_string(tag), simple_string(range)
    if language is None or prefix is None:
        return None
    language, prefix = language.lower(), prefix.lower()
    if prefix == "*":
        return bool(language)
    return language == prefix or (prefix != "" and language.startswith(prefix + "-"))
