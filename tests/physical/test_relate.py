"""Which relations reach a join or a set operation as changes, without a detour through whole windows."""

from __future__ import annotations

import pytest

import transom
from transom.errors import Unsupported
from transom.physical.arrange import arrange
from transom.physical.lines import Distinct, Lines, Relate, Turn
from transom.physical.node import Physical
from transom.physical.plan import Filter, Form, Map, ReadScans, ReadTable
from transom.physical.walk import walk

CATALOG = transom.Catalog.from_dict(
    {
        "extents": {
            "cars": {"kind": "pushed", "attributes": ["id:string", "v:integer"]},
            "owners": {"kind": "stored", "attributes": ["id:string", "name:string"]},
        }
    },
)
ROWS = "cars [PARTITION BY id ROWS 3]"


def related(text: str) -> Relate:
    """The topmost node that takes two relations together."""
    query = transom.compile(text, CATALOG, language="cql")
    assert isinstance(query, transom.Query)
    return next(node for node in walk(query.physical()) if isinstance(node, Relate))


def above_the_machine(side: Physical) -> list[type]:
    """The nodes of a side, from the top down to the machine of its windows."""
    kinds = [type(node) for node in walk(side)]
    return kinds[: kinds.index(Lines) + 1]


@pytest.mark.parametrize(
    ("side", "kinds"),
    [
        (f"SELECT id, v FROM {ROWS}", [Map, Lines]),
        (f"SELECT id, v FROM {ROWS} WHERE v > 3", [Map, Filter, Lines]),
        (
            f"SELECT id, v + 1 AS v FROM (SELECT DISTINCT id, v FROM {ROWS}) AS once",
            [Turn, Map, Distinct, Relate, Map, Lines],
        ),
    ],
)
def test_projections_and_selections_apply_to_changes(side: str, kinds: list[type]) -> None:
    node = related(f"SELECT id, v FROM {ROWS} UNION ALL {side}")
    assert above_the_machine(node.left) == [Map, Lines]
    assert above_the_machine(node.right) == kinds
    assert node.left.form is node.right.form is Form.CHANGES


def test_tables_whose_logs_are_followed_are_read_as_scans() -> None:
    query = transom.compile(
        f"SELECT RStream(c.id, o.name) FROM {ROWS} AS c, owners AS o WHERE c.id = o.id", CATALOG, language="cql"
    )
    assert isinstance(query, transom.Query)
    assert [type(node) for node in walk(arrange(query.plan)) if isinstance(node, ReadTable | ReadScans)] == [ReadTable]
    followed = walk(arrange(query.plan, growing=["owners"]))
    assert [type(node) for node in followed if isinstance(node, ReadTable | ReadScans)] == [ReadScans]


@pytest.mark.parametrize(
    "stream",
    [
        f"SELECT IStream(a.id, b.v) FROM {ROWS} AS a, {ROWS} AS b WHERE a.id = b.id",
        f"SELECT RStream(*) FROM (SELECT id FROM {ROWS} UNION ALL SELECT id FROM {ROWS})",
        "SELECT RStream(DISTINCT id) FROM cars [ROWS 3]",
    ],
    ids=["join", "union", "distinct"],
)
def test_row_window_over_a_relation_without_an_order_is_refused(stream: str) -> None:
    query = transom.compile(f"SELECT RStream(*) FROM ({stream}) [ROWS 2]", CATALOG, language="cql")
    assert isinstance(query, transom.Query)
    with pytest.raises(Unsupported, match="not on Spark: a row window over a join"):
        query.physical()
