"""Which plans join changes, by which keys, and what they say of it."""

from __future__ import annotations

import pytest

import transom
from transom.algebra.expressions.expression import TRUE
from transom.algebra.relations import JoinType
from transom.physical.nodes.change_join import ChangeJoin
from transom.physical.nodes.keyed_windows import CombineRelations, WindowsToChanges
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk

CATALOG = transom.Catalog.from_dict(
    {
        "extents": {
            "cars": {"kind": "pushed", "attributes": ["id:string", "v:integer"], "rate": "5 per s"},
            "limits": {"kind": "stored", "attributes": ["most:integer"], "rows": 10},
        }
    }
)
ROWS = "[PARTITION BY id ROWS 1]"


def plan(text: str) -> PhysicalNode:
    return transom.compile(text, CATALOG, language="cql").physical()


def joins(text: str) -> list[ChangeJoin]:
    found = plan(text)
    assert not [node for node in walk(found) if isinstance(node, CombineRelations | WindowsToChanges)]
    return [node for node in walk(found) if isinstance(node, ChangeJoin)]


@pytest.mark.parametrize("stream", ["IStream", "DStream"])
@pytest.mark.parametrize(
    ("condition", "keys", "checks", "words"),
    [
        ("A.id = B.id", 1, False, "by key"),
        ("A.id = B.id AND A.v < B.v", 1, True, "by key"),
        ("A.v < B.v", 0, True, "in one task, because there is no join key"),
        ("A.id = B.id AND A.v = B.v", 2, False, "by key"),
    ],
)
def test_changes_of_a_join_are_joined(stream: str, condition: str, keys: int, checks: bool, words: str) -> None:
    (node,) = joins(f"SELECT {stream}(A.id, B.v) FROM A=cars {ROWS}, B=cars {ROWS} WHERE {condition}")
    assert node.join_type is JoinType.INNER
    assert len(node.keys) == keys
    assert (node.residual != TRUE) == checks
    assert node.decision.reason.endswith(f"the join is incremental, {words}")


def test_whole_windows_are_rebuilt_only_where_they_are_asked_for() -> None:
    text = f"SELECT RStream(A.id, B.v) FROM A=cars {ROWS}, B=cars {ROWS} WHERE A.id = B.id"
    assert [type(node) for node in walk(plan(text)) if isinstance(node, CombineRelations | ChangeJoin)] == [
        CombineRelations
    ]


@pytest.mark.parametrize(
    ("text", "join_type"),
    [
        (f"SELECT IStream(A.id, limits.most) FROM A=cars {ROWS} LEFT JOIN limits ON A.v < limits.most", JoinType.LEFT),
        (f"SELECT IStream(id) FROM cars {ROWS} WHERE v IN (SELECT most FROM limits)", JoinType.SEMI),
        (f"SELECT IStream(id) FROM cars {ROWS} WHERE v NOT IN (SELECT most FROM limits)", JoinType.ANTI),
    ],
)
def test_join_types(text: str, join_type: JoinType) -> None:
    (node,) = joins(text)
    assert node.join_type is join_type
    again = "a second machine counts the matches of each left row that satisfy the condition"
    assert (again in node.decision.reason) == (node.residual != TRUE)


def test_joins_of_joins() -> None:
    text = f"FROM A=cars {ROWS}, B=cars {ROWS}, limits WHERE A.id = B.id AND B.v = limits.most"
    assert [len(node.keys) for node in joins(f"SELECT IStream(A.id, B.v) {text}")] == [1, 1]
    found = [type(node) for node in walk(plan(f"SELECT RStream(A.id, B.v) {text}"))]
    assert (found.count(CombineRelations), found.count(ChangeJoin)) == (1, 1)


def test_changes_of_a_table_need_no_machine() -> None:
    assert joins("SELECT IStream(most) FROM limits") == []


ROOMS = transom.Catalog.from_dict({"prefixes": {"": "http://ex/"}, "rdf": {"rooms": {"stream": "http://ex/rooms"}}})
WINDOW = "FROM STREAM :rooms WINDOW RANGE 10 S SLIDE 1 S"


def solution_joins(pattern: str) -> list[ChangeJoin]:
    plan = transom.compile(f"SELECT * {WINDOW} WHERE {{ {pattern} }}", ROOMS, language="sparql").physical()
    return [node for node in walk(plan) if isinstance(node, ChangeJoin)]


@pytest.mark.parametrize(
    ("pattern", "fused", "inputs"),
    [
        ("?a :p ?b OPTIONAL { ?a :q ?c } OPTIONAL { ?a :r ?d } OPTIONAL { ?a :s ?e }", [False, True, True], 3),
        ("?a :p ?b ; :o ?x OPTIONAL { ?a :q ?c OPTIONAL { ?a :r ?d } }", [False, True, True], 2),
        ("?a :p ?b OPTIONAL { ?a :q ?c } MINUS { ?a :r ?d }", [False, True], 2),
        ("?a :p ?b OPTIONAL { ?a :q ?c } OPTIONAL { ?b :r ?d }", [False, False], 2),
        ("?a :p ?b OPTIONAL { ?a :q ?c } OPTIONAL { ?a :r ?d FILTER(?d = ?c) }", [False, False], 2),
        ("?a :p ?b OPTIONAL { ?a :q ?c } OPTIONAL { ?a :r ?c }", [False, False], 2),
        ("?a :p ?b . ?c :q ?d MINUS { ?a :p ?b . ?c :q ?d }", [False, False, False], 2),
    ],
)
def test_joins_by_the_same_key_run_in_one_operator(pattern: str, fused: list[bool], inputs: int) -> None:
    """Not so with another key, a condition, a variable that may be unbound, or without a key."""
    joins = solution_joins(pattern)
    assert [node.fused for node in joins] == fused
    assert len(joins[0].operator_inputs) == inputs
    for node in joins:
        assert node.decision.reason.endswith("in the operator of the join above, which has the same key") == node.fused
