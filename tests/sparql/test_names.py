"""What prefixed names and relative IRIs mean: the prologue of a query, and RFC 3986."""

from __future__ import annotations

import pytest

from transom.errors import NameProblem
from transom.languages.sparql.parse import parse
from transom.languages.sparql.terms import Iri, PrefixedName
from transom.languages.sparql.translation.names import NameResolver, resolve_iri

DECLARED = {"ex": "http://declared/", "other": "http://other/"}


def names(prologue: str, base: str | None = None) -> NameResolver:
    return NameResolver.of(parse(f"{prologue} SELECT * WHERE {{ }}"), DECLARED, base)


def test_prefixes_of_a_query_come_before_declared_ones() -> None:
    found = names("PREFIX ex: <http://query/> PREFIX : <http://empty/>")
    assert found == NameResolver({"ex": "http://query/", "other": "http://other/", "": "http://empty/"}, None)
    assert DECLARED["ex"] == "http://declared/"


def test_base_applies_to_what_follows_it() -> None:
    found = names("PREFIX a: <x/> BASE <http://base/dir/> PREFIX b: <x/> BASE <sub/> PREFIX c: <x/>")
    assert found.base == "http://base/dir/sub/"
    assert {name: found.prefixes[name] for name in "abc"} == {
        "a": "x/",
        "b": "http://base/dir/x/",
        "c": "http://base/dir/sub/x/",
    }
    assert names("BASE <there>", "http://given/here").base == "http://given/there"


def test_names_become_iris() -> None:
    found = names("BASE <http://base/> PREFIX a: <http://a#>")
    assert found.iri(PrefixedName("a", "b")).value == "http://a#b"
    assert found.iri(Iri("c")).value == "http://base/c"
    with pytest.raises(NameProblem, match="no prefix is called d:"):
        found.iri(PrefixedName("d", "b"))


# RFC 3986, sections 5.4.1 and 5.4.2
@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"),
    ],
)
def test_relative_references(reference: str, expected: str) -> None:
    assert resolve_iri(reference, "http://a/b/c/d;p?q") == expected
    assert resolve_iri(reference, None) == reference
