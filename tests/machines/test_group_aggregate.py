"""The machine that aggregates groups of changes, against the aggregates of the rows that are there at every tick."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from tests.machines.group_cases import SQL, as_terms, cells, sql_group, sql_meaning, term_group, term_meaning
from transom.errors import PlanError
from transom.machines.aggregates.group_aggregate import TERM, AggregateSpec, GroupAggregate, GroupSpec
from transom.machines.protocol import Emission, InputRow, create_machine, drops_empty_state, sort_inputs
from transom.model.bag import Row
from transom.model.rdf.terms import DOUBLE, INTEGER, Literal

Read = Callable[[Sequence[Any]], list[Any]]


def moves(rng: random.Random, count: int, there: list[int], made: list[Row]) -> list[InputRow]:
    """Rows that come, several copies at once as well, and rows that go, also in the tick in which they come."""
    found = []
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        place, copies = rng.randrange(count), rng.choice([1, 1, 1, 2])
        there += [place] * copies
        found.append(InputRow(0, 1, True, copies, None, (), made[place]))
    rng.shuffle(there)
    for _ in range(rng.randrange(min(len(there), 4) + 1)):
        found.append(InputRow(0, 1, True, -1, None, (), made[there.pop()]))
    return found


def check(seed: str, spec: GroupSpec, made: list[Row], members: Sequence[Any], read: Read, meaning: Read) -> int:
    """Random changes through a machine that is often saved; how many changes it has emitted."""
    rng, there, shown, count = random.Random(seed), list[int](), list[Row](), 0
    machine = create_machine(spec.to_json())
    for tick in range(8):
        arrivals = moves(rng, len(members), there, made)
        if not arrivals:
            continue
        departures = list(machine.feed(tick, sort_inputs(arrivals)))
        assert [d.number for d in departures] in ([], [1], [-1], [-1, 1])
        assert len({repr(d.row) for d in departures}) == len(departures), "what does not change is not emitted"
        for one in departures:
            assert one.row is not None
            if one.number < 0:
                assert repr(shown.pop()) == repr(one.row)
            else:
                shown.append(one.row)
        count += len(departures)
        if there or spec.is_global:
            assert [repr(read(row)) for row in shown] == [repr(meaning([members[place] for place in there]))], seed
        else:
            assert not shown
        assert machine.held in (len(there), min(len(there), 1))
        if rng.random() < 0.4:
            machine = create_machine(spec.to_json(), machine.save())
    return count


def in_words(terms: Sequence[Any]) -> list[str | None]:
    return [None if term is None else str(term) for term in terms]


@pytest.mark.parametrize("block", range(4))
def test_terms(block: int) -> None:
    emitted = 0
    for seed in range(block * 250, (block + 1) * 250):
        spec, terms = term_group(random.Random(f"terms {seed}"))
        made = [("key", *cells(term)) for term in terms]
        read = partial(lambda s, row: in_words(as_terms(s, row)), spec)
        meaning = partial(lambda s, found: in_words(term_meaning(s, found)), spec)
        emitted += check(f"terms {seed}", spec, made, terms, read, meaning)
    assert emitted > 1000


@pytest.mark.parametrize("block", range(2))
def test_values(block: int) -> None:
    emitted = 0
    for seed in range(block * 250, (block + 1) * 250):
        spec, kind = sql_group(random.Random(f"values {seed}"))
        made = [("key", value) for value in SQL[kind]]
        meaning = partial(sql_meaning, spec, kind)
        emitted += check(f"values {seed}", spec, made, SQL[kind], lambda row: list(row[1:]), meaning)
    assert emitted > 1000


def term_row(*terms: Literal | None) -> Row:
    return tuple(cell for term in terms for cell in cells(term))


def test_a_sum_of_doubles_does_not_depend_on_their_order() -> None:
    sums = GroupSpec(0, (AggregateSpec("sum", TERM, 0), AggregateSpec("avg", TERM, 0)))
    made = [(1, term_row(Literal(text, DOUBLE))) for text in ("1e16", "1", "1", "-1e16", "0.1", "1e-300")]
    found = set()
    for seed in range(20):
        random.Random(seed).shuffle(made)
        machine = GroupAggregate(sums)
        for change in made:
            last = list(machine.take([change]))[-1]
        found.add(last)
    assert found == {(1, (4, None, 2.1, 4, None, 2.1, 6))}


def test_errors_and_what_a_group_is_when_they_go() -> None:
    one, error = term_row(Literal("1", INTEGER)), term_row(None)
    functions = ("count", "sum", "min", "sample", "concat")
    machine = GroupAggregate(GroupSpec(0, tuple(AggregateSpec(f, TERM, 0) for f in functions)))
    term = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    poisoned = (1, None, None, None, None, term, None)
    assert list(machine.take([(1, one), (2, error)])) == [(1, poisoned)]
    assert list(machine.take([(-1, error)])) == []
    assert list(machine.take([(-1, error)])) == [(-1, poisoned), (1, (1, 1, "1", None, term, term, "1"))]
    assert list(machine.take([(-1, one), (1, one)])) == []
    assert list(machine.take([(-1, one)])) == [(-1, (1, 1, "1", None, term, term, "1"))]
    assert machine.held == 0
    assert machine.save() == GroupAggregate(machine.spec).save()


def test_the_whole_exists_without_rows() -> None:
    aggregates = (AggregateSpec("count", TERM), AggregateSpec("sum", TERM, 0), AggregateSpec("min", "float", 0))
    spec = GroupSpec(0, aggregates, is_global=True)
    machine = create_machine(spec.to_json())
    marker = InputRow(0, 1, False, 1, None, (), ())
    nothing = (0, 1, "0", None, None)
    assert list(machine.feed(0, [marker])) == [Emission(1, False, 0, None), Emission(1, True, 1, nothing)]
    assert list(machine.feed(1, [marker])) == [Emission(1, False, 0, None)]
    assert not drops_empty_state(spec.to_json())
    assert drops_empty_state(GroupSpec(1, aggregates).to_json())
    row = InputRow(0, 1, True, 1, None, (), term_row(None))
    before = list(create_machine(spec.to_json(), machine.save()).feed(2, [row]))
    assert before[0] == Emission(1, True, -1, nothing)


def test_nan_is_emitted_once() -> None:
    machine = GroupAggregate(GroupSpec(0, (AggregateSpec("sum", TERM, 0),)))
    nan = term_row(Literal("NaN", DOUBLE))
    ((_, (_, _, value)),) = machine.take([(1, nan)])
    assert isinstance(value, float)
    assert math.isnan(value)
    assert list(machine.take([(1, nan)])) == []


def test_what_never_came_cannot_go() -> None:
    row = term_row(Literal("1", INTEGER))
    for aggregate in (AggregateSpec("count", TERM), AggregateSpec("min", TERM, 0), AggregateSpec("sum", TERM, 0)):
        machine = GroupAggregate(GroupSpec(0, (aggregate,)))
        changes = [(-1, row), (1, term_row(Literal("a")))]
        if aggregate.argument is None:
            changes = changes[:1]
        with pytest.raises(ValueError, match="a row is retracted that was never added"):
            list(machine.take(changes))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (("sum", "string", 0), "there is no sum of string"),
        (("concat", "string", 0), "there is no concat of string"),
        (("min", "term", None), "min needs an argument"),
        (("count", "term", None, True), "count needs an argument"),
    ],
)
def test_refused_aggregates(spec: tuple[Any, ...], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        AggregateSpec(*spec)
