"""How two streams are joined natively."""

from __future__ import annotations

import pytest

import transom
from transom.physical.forms import JoinStrategy
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import IntervalJoin

CATALOG = transom.Catalog.from_dict({"extents": {"cars": {"kind": "pushed", "attributes": ["id:string", "v:integer"]}}})
WINDOW = "cars [FROM NOW-2 TO NOW SLIDE 1 SEC]"


@pytest.mark.parametrize(
    ("where", "how"),
    [
        ("", JoinStrategy.TIME_BUCKETS),
        ("WHERE a.v < b.v", JoinStrategy.TIME_BUCKETS),
        ("WHERE a.id = b.id", JoinStrategy.TIME_RANGES),
    ],
    ids=["no condition", "no equality", "an equality"],
)
def test_streams_are_joined_with_an_equality(where: str, how: JoinStrategy) -> None:
    """Spark refuses a join of two streams whose condition has none; ranges of event time have none of their own."""
    query = transom.compile(f"RSTREAM(SELECT a.v, b.v FROM {WINDOW} AS a, {WINDOW} AS b {where})", CATALOG)
    assert isinstance(query, transom.Query)
    assert [node.how for node in walk(query.physical()) if isinstance(node, IntervalJoin)] == [how]
