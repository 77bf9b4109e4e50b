"""The positions of entries in TOML texts."""

from __future__ import annotations

import pytest

from transom.catalog.reading.locations import Location
from transom.errors import ProjectError
from transom.project.document import read_toml

TEXT = """\
# a = 1
catalog = "c.yaml"  # beside

[queries.busy]
file = '''
[not.a.table]
key = "no key"
'''
parameters = { limit = 5, "a b" = [1,
  2] }
[ limits ]
"state_rows" = 7
queries."x.y".file = "f"
"""


def located(text: str, *path: str, key: bool = False) -> str:
    """The part of a text that an entry has, as an error would underline it."""
    _, source_map = read_toml(text, "t")
    span = source_map.span(Location(path, key=key))
    return text[span.start : span.end]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("catalog",), '"c.yaml"  # beside'),
        (("queries", "busy", "file"), "'''\n[not.a.table]\nkey = \"no key\"\n'''"),
        (("queries", "busy", "parameters"), '{ limit = 5, "a b" = [1,\n  2] }'),
        (("queries", "busy", "parameters", "limit"), '{ limit = 5, "a b" = [1,\n  2] }'),
        (("limits", "state_rows"), "7"),
        (("limits", "queries", "x.y", "file"), '"f"'),
    ],
)
def test_values_are_located(path: tuple[str, ...], value: str) -> None:
    assert located(TEXT, *path) == value


def test_names_are_located() -> None:
    assert located(TEXT, "queries", "busy", key=True) == "queries.busy"
    assert located(TEXT, "limits", "state_rows", key=True) == '"state_rows"'


def test_missing_entries_are_at_their_table() -> None:
    assert located(TEXT, "queries", "busy", "output") == "queries.busy"


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb = \n", 2), ("a = 1\na = 2\n", 2), ("a = 'é", 1), ("[", 1)])
def test_syntax_errors_have_a_position(text: str, line: int) -> None:
    """The message and the column are those of `tomllib`, which differ between versions of Python."""
    with pytest.raises(ProjectError, match="not TOML: ") as raised:
        read_toml(text, "transom.toml")
    position = raised.value.position
    assert position is not None
    assert position[0] == line


def test_a_deep_text_is_refused() -> None:
    with pytest.raises(ProjectError):
        read_toml(f"a = {'[' * 100_000}", "t")
