"""The YAML that a catalog is written in."""

from __future__ import annotations

import pytest
import yaml

from transom.catalog import Catalog
from transom.catalog.reading import document
from transom.catalog.reading.document import read_document
from transom.errors import CatalogError

from .marked import refused, says


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("010", 10),
        ("-3", -3),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2.5", 2.5),
        ("1e3", 1000.0),
        ("-.inf", float("-inf")),
        ("2009-01-01", "2009-01-01"),
        ("'5'", "5"),
        ('"a\\nb"', "a\nb"),
    ],
)
def test_words_are_read_as_yaml_1_2_reads_them(words, value):
    assert read_document(f"a: {words}\n")[0] == {"a": value}


def test_keys_are_text_and_nothing_else():
    assert read_document("on: 1\n2: [a, {b: }]\n")[0] == {"on": 1, "2": ["a", {"b": None}]}


def test_an_empty_text_has_no_data():
    assert read_document("# nothing\n")[0] is None


@pytest.mark.parametrize(
    ("marked", "message", "hint"),
    [
        ("a: «&x 1»\nb: *x\n", "anchors and aliases are not read in a catalog", "write the value out"),
        ("b: «*x»\n", "anchors and aliases are not read in a catalog", None),
        ("«*x» : 1\n", "anchors and aliases are not read in a catalog", None),
        ("a: «!!int 5»\n", "tags are not read in a catalog", None),
        ("a: 1\n«a»: 2\n", "the key 'a' is repeated", "keep one"),
        ("? «[»a]\n: 3\n", "a key is one word", None),
        ("a: 1\n«---»\nb: 2\n", "a catalog is one document", "---"),
        ("a: " + "[" * 30 + "«[»" + "]" * 31, "nested deeper than 30", None),
        ("a: «" + "9" * 401 + "»\n", "a number of more than 400 digits", None),
        ("a: x«\x07»y\n", "the character '\\x07' is not allowed in a catalog", None),
        ("a: é«\ud800»\n", "the character '\\ud800' is not allowed in a catalog", None),
        ("a: «[»1\n", "the text is not YAML", "close this [ with ]"),
        ("road: sensed (site«:» integer)\n", "the text is not YAML", "without a space"),
        ("road:\n«\t»kind: sensed\n", "the text is not YAML", "tabs"),
    ],
)
def test_what_is_not_read_is_underlined(marked, message, hint):
    says(marked, message, hint)


def test_the_error_of_a_lone_surrogate_can_be_printed():
    with pytest.raises(CatalogError) as caught:
        Catalog.read("a: \ud800\n")
    assert str(caught.value).encode()


def test_yaml_says_more_in_the_detail():
    assert "did not find expected" in str(refused("a: {b: 1 c«:» 2}\n").detail)


def test_deep_nesting_is_refused_at_once():
    with pytest.raises(CatalogError, match="nested deeper"):
        read_document("[" * 100_000)


def test_a_mark_at_the_start_of_the_file_is_passed_over():
    catalog = Catalog.read("\ufeffroad: sensed (site:integer)\n")
    assert list(catalog.extents) == ["road"]
    assert catalog.text == "road: sensed (site:integer)\n"


def test_the_slow_parser_of_yaml_will_do(monkeypatch):
    monkeypatch.setattr(document, "_LOADER", yaml.SafeLoader)
    assert read_document("a: [1, x]\n")[0] == {"a": [1, "x"]}
    says("a: «&x 1»\n", "anchors and aliases are not read in a catalog")
    with pytest.raises(CatalogError, match="not YAML"):
        read_document("a: [1")
