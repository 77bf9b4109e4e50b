"""Which relations reach a join or a set operation as changes, without a detour through whole windows."""

from __future__ import annotations

import pytest

import transom
from transom.errors import Unsupported
from transom.physical.nodes.keyed_windows import CombineRelations, Distinct, KeyedWindow, WindowsToChanges
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Filter, Form, Project, ReadScans, ReadTable
from transom.physical.planner.planner import plan_query

CATALOG = transom.Catalog.from_dict(
    {
        "extents": {
            "cars": {"kind": "pushed", "attributes": ["id:string", "v:integer"]},
            "owners": {"kind": "stored", "attributes": ["id:string", "name:string"]},
        }
    },
)
ROWS = "cars [PARTITION BY id ROWS 3]"


def related(text: str) -> CombineRelations:
    """The topmost node that takes two relations together."""
    query = transom.compile(text, CATALOG, language="cql")
    assert isinstance(query, transom.Query)
    return next(node for node in walk(query.physical()) if isinstance(node, CombineRelations))


def above_the_machine(side: PhysicalNode) -> list[type]:
    """The nodes of a side, from the top down to the machine of its windows."""
    kinds = [type(node) for node in walk(side)]
    return kinds[: kinds.index(KeyedWindow) + 1]


@pytest.mark.parametrize(
    ("side", "kinds"),
    [
        (f"SELECT id, v FROM {ROWS}", [Project, KeyedWindow]),
        (f"SELECT id, v FROM {ROWS} WHERE v > 3", [Project, Filter, KeyedWindow]),
        (
            f"SELECT id, v + 1 AS v FROM (SELECT DISTINCT id, v FROM {ROWS}) AS once",
            [WindowsToChanges, Project, Distinct, CombineRelations, Project, KeyedWindow],
        ),
    ],
)
def test_projections_and_selections_apply_to_changes(side: str, kinds: list[type]) -> None:
    node = related(f"SELECT id, v FROM {ROWS} UNION ALL {side}")
    assert above_the_machine(node.left) == [Project, KeyedWindow]
    assert above_the_machine(node.right) == kinds
    assert node.left.form is node.right.form is Form.CHANGES


def test_tables_whose_logs_are_followed_are_read_as_scans() -> None:
    query = transom.compile(
        f"SELECT RStream(c.id, o.name) FROM {ROWS} AS c, owners AS o WHERE c.id = o.id", CATALOG, language="cql"
    )
    assert isinstance(query, transom.Query)
    assert [type(node) for node in walk(plan_query(query.optimized)) if isinstance(node, ReadTable | ReadScans)] == [
        ReadTable
    ]
    followed = walk(plan_query(query.optimized, followed_tables=["owners"]))
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
    with pytest.raises(Unsupported, match="cannot run on Spark: in CQL, a row window over a join"):
        query.physical()
