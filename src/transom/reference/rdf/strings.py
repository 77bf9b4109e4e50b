"""The functions of SPARQL 1.1 on strings (W3C 17.4.3); None is an error."""

from __future__ import annotations

from urllib.parse import quote

from transom.model.rdf.terms import Literal, Term, integer
from transom.model.rdf.values import Kind, Text, value_of
from transom.reference.rdf.numbers import number


def text(term: Term) -> Text | None:
    """The string that a term is, with its language."""
    value = value_of(term) if isinstance(term, Literal) else None
    return value if isinstance(value, Text) else None


def simple(term: Term) -> str | None:
    """The characters of a string without a language."""
    found = text(term)
    return found.text if found is not None and not found.language else None


def like(found: Text, characters: str) -> Literal:
    """Other characters in the same language."""
    return Literal(characters, language=found.language)


def two(one: Term, other: Term) -> tuple[Text, Text] | None:
    """Two strings that go together: the second has no language or the same (W3C 17.4.3.1.2)."""
    first, second = text(one), text(other)
    if first is None or second is None or second.language not in ("", first.language):
        return None
    return first, second


def length(term: Term) -> Term | None:
    """How many characters."""
    found = text(term)
    return integer(len(found.text)) if found is not None else None


def part(term: Term, start: Term, count: Term | None = None) -> Term | None:
    """The characters from a place on, counted from 1, and at most so many."""
    found, first, most = text(term), number(start), number(count) if count is not None else None
    if found is None or first is None or first.kind is not Kind.INTEGER:
        return None
    if count is not None and (most is None or most.kind is not Kind.INTEGER):
        return None
    begin = int(first.value)
    end = len(found.text) + 1 if most is None else begin + int(most.value)
    return like(found, found.text[max(begin, 1) - 1 : max(end, 1) - 1])


def upper(term: Term) -> Term | None:
    """In capital letters."""
    found = text(term)
    return like(found, found.text.upper()) if found is not None else None


def lower(term: Term) -> Term | None:
    """In small letters."""
    found = text(term)
    return like(found, found.text.lower()) if found is not None else None


def starts(one: Term, other: Term) -> bool | None:
    """Whether the first begins with the second."""
    both = two(one, other)
    return both[0].text.startswith(both[1].text) if both else None


def ends(one: Term, other: Term) -> bool | None:
    """Whether the first ends with the second."""
    both = two(one, other)
    return both[0].text.endswith(both[1].text) if both else None


def contains(one: Term, other: Term) -> bool | None:
    """Whether the second is part of the first."""
    both = two(one, other)
    return both[1].text in both[0].text if both else None


def before(one: Term, other: Term) -> Term | None:
    """What comes before the second; the empty string without a language where it is not found."""
    both = two(one, other)
    if both is None:
        return None
    head, found, _ = both[0].text.partition(both[1].text) if both[1].text else ("", " ", "")
    return like(both[0], head) if found else Literal("")


def after(one: Term, other: Term) -> Term | None:
    """What comes after the second; the empty string without a language where it is not found."""
    both = two(one, other)
    if both is None:
        return None
    _, found, tail = both[0].text.partition(both[1].text) if both[1].text else ("", " ", both[0].text)
    return like(both[0], tail) if found else Literal("")


def encoded(term: Term) -> Term | None:
    """With all but letters, digits and - _ . ~ in percent signs."""
    found = text(term)
    return Literal(quote(found.text, safe="")) if found is not None else None


def concatenated(*terms: Term) -> Term | None:
    """One after the other; in a language where all are in the same one."""
    found = [text(term) for term in terms]
    if any(one is None for one in found):
        return None
    known = [one for one in found if one is not None]
    languages = {one.language for one in known}
    return Literal("".join(one.text for one in known), language=languages.pop() if len(languages) == 1 else "")


def lang_matches(tag: Term, range: Term) -> bool | None:
    """Whether a tag lies in a range: itself, a beginning of it, or * for any (RFC 4647, basic filtering)."""
    one, wanted = simple(tag), simple(range)
    if one is None or wanted is None:
        return None
    one, wanted = one.lower(), wanted.lower()
    if wanted == "*":
        return bool(one)
    return one == wanted or (wanted != "" and one.startswith(wanted + "-"))
