"""Sliding aggregates against their definition with the reference engine's own functions, in Python and in Java."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice, pairwise
from typing import Any

import pytest

from tests.machines.windows.slide_cases import (
    COUNT,
    TYPES,
    awkward,
    cases,
    expected,
    random_rows,
    random_script,
    random_spec,
    with_any_ends,
)
from tests.machines.windows.slide_driver import Java, Script, java, plain, slide_in_python
from transom.errors import DataError, PlanError
from transom.machines import codec
from transom.machines.aggregates.sliding import RANGE_ERROR, SlidingAggregateSpec, partial_aggregate, to_units
from transom.machines.windows.slide import SlidingWindowMachine, SlidingWindowSpec
from transom.model.bag import Row
from transom.model.types import Type, normalize_decimal


@pytest.fixture(scope="module", params=[7, pytest.param(1, marks=pytest.mark.kernel)])
def answered(request: pytest.FixtureRequest) -> list[tuple[SlidingWindowSpec, Script, Any]]:
    """Cases with what their definition says: every seventh, and all of them where Java is tried too."""
    chosen = islice(cases(), 0, None, request.param)
    return [(spec, script, plain(list(expected(spec, kinds, script)))) for spec, kinds, script in chosen]


@pytest.fixture(scope="module")
def in_java(tmp_path_factory: pytest.TempPathFactory) -> Java:
    return java(tmp_path_factory.mktemp("classes"))


def test_python(answered: list[tuple[SlidingWindowSpec, Script, Any]]) -> None:
    seen: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for place, (spec, script, said) in enumerate(answered):
        assert plain(slide_in_python(spec, script)) == said, f"case {place}: {spec}"
        for asked in spec.aggregates:
            seen[f"{asked.function} {asked.type}"] += 1
        if spec.copies is None:
            ends.update(arrivals(script))
    share = len(answered) / 10_400
    assert min(seen.values()) > 200 * share
    assert len(seen) == 3 * len(TYPES) + 2 * 3
    assert ends["rows"] > 20_000 * share
    assert ends["the longer of two that come together first"] > 400 * share
    assert ends["as long as the one before"] > 800 * share


def arrivals(script: Script) -> Iterator[str]:
    """What there is to see in a script of rows with ends."""
    taken = [(tick, row[0]) for word, tick, row in (step for step in script if step[0] == "take")]
    for (tick, gone), (later, end) in pairwise(taken):
        yield "rows"
        if tick == later and gone > end:
            yield "the longer of two that come together first"
        if tick < later and gone == end:
            yield "as long as the one before"


@pytest.mark.kernel
def test_java(answered: list[tuple[SlidingWindowSpec, Script, Any]], in_java: Java) -> None:
    tasks = [{"spec": json.loads(spec.to_json()), "script": plain(script)} for spec, script, _ in answered]
    for place, (said, (spec, _, wanted)) in enumerate(zip(in_java(tasks), answered, strict=True)):
        assert said == wanted, f"case {place}: {spec}"


@pytest.mark.kernel
def test_rows_that_come_later_and_go_earlier(in_java: Java) -> None:
    """These are refused when a tick is closed or the state is saved, at the latest; before that nothing is wrong."""
    tried: list[tuple[SlidingWindowSpec, Script, Any]] = []
    for seed in range(2000):
        rng = random.Random(seed)
        spec, kinds = random_spec(rng)
        rows = with_any_ends(rng, random_rows(rng, spec, kinds), spec.period, rng.choice([2, 6]))
        spec = SlidingWindowSpec(None, spec.period, spec.aggregates)
        script = random_script(rng, spec, rows)
        refused = next((place for place in range(len(script)) if out_of_order(script[: place + 1])), None)
        wanted = plain(list(expected(spec, kinds, script[:refused])))
        assert plain(slide_in_python(spec, script[:refused])) == wanted, f"seed {seed}: {spec}"
        if refused is not None:
            with pytest.raises(PlanError, match="must not leave earlier"):
                slide_in_python(spec, script[: refused + 1])
            tried.append((spec, script, wanted))
    assert len(tried) > 400
    tasks = [{"spec": json.loads(spec.to_json()), "script": plain(script)} for spec, script, _ in tried]
    for said, (spec, _, wanted) in zip(in_java(tasks), tried, strict=True):
        assert said[:-1] == wanted, spec
        assert said[-1]["error"].startswith("IllegalArgumentException: a row of tick")
        assert said[-1]["error"].endswith("of two rows the later one must not leave earlier")


def out_of_order(script: Script) -> bool:
    """Whether the last word of a script closes or saves, and of two rows the later one goes earlier."""
    stays = sorted((tick, row[0]) for word, tick, row in (step for step in script if step[0] == "take"))
    return script[-1][0] != "take" and any(gone > end for (_, gone), (_, end) in pairwise(stays))


@pytest.mark.kernel
def test_java_finds_the_digits_that_python_prints(in_java: Java) -> None:
    rng = random.Random(7)
    numbers = [2.0**exponent for exponent in range(-69, 84)]
    numbers += [10.0**exponent for exponent in range(-20, 25)]
    numbers += [math.nextafter(number, way) for number in numbers for way in (0, math.inf)]
    numbers += [number for number in (awkward(rng) for _ in range(60_000)) if number]
    [digits] = in_java([{"floats": plain(numbers)}])
    for number, found in zip(numbers, digits, strict=True):
        assert Decimal(found["d"]) == Decimal(repr(number)), number.hex()


@pytest.mark.kernel
def test_sums_in_one_big_window(in_java: Java) -> None:
    rng = random.Random(3)
    spec = SlidingWindowSpec(40, 1, (SlidingAggregateSpec("sum", "float", 0), SlidingAggregateSpec("avg", "float", 0)))
    rows: list[tuple[int, Row]] = [(rng.randrange(300), (awkward(rng),)) for _ in range(3000)]
    script: Script = [("take", *row) for row in rows] + [("close", closed) for closed in range(0, 400, 7)]
    said = plain(list(expected(spec, [Type.FLOAT], script)))
    assert plain(slide_in_python(spec, script)) == said
    assert in_java([{"spec": json.loads(spec.to_json()), "script": plain(script)}]) == [said]


@pytest.mark.kernel
@pytest.mark.parametrize("number", [2.0**-70, 9.99e-22, 5e-324, 1e25, -1e25, 1e300])
def test_floats_beyond_exact_sums(number: float, in_java: Java) -> None:
    spec = SlidingWindowSpec(1, 1, (SlidingAggregateSpec("sum", "float", 0),))
    with pytest.raises(DataError, match=RANGE_ERROR):
        to_units(number)
    [said] = in_java([{"spec": json.loads(spec.to_json()), "script": plain([("take", 0, (number,))])}])
    assert said[0]["error"].startswith(f"ArithmeticException: {RANGE_ERROR}: exact sums do not take")


@pytest.mark.parametrize(
    ("kind", "values", "mean"),
    [
        ("float", [0.1, 0.2, 0.3], 0.2),
        ("integer", [2**54 + 1, 2**54 + 3, 1], 12009599006321324.0),
        ("decimal", [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")], 0.2),
    ],
)
def test_average_is_rounded_once(kind: str, values: list[Any], mean: float) -> None:
    part = partial_aggregate(SlidingAggregateSpec("avg", kind, 0))
    content = part.empty()
    for value in values:
        content = part.add(content, value)
    window = part.window()
    window.enter(content)
    assert window.value() == mean


@pytest.mark.kernel
def test_averages_in_java_are_rounded_once(in_java: Java) -> None:
    rng = random.Random(5)
    kinds = [Type.FLOAT, Type.INTEGER, Type.DECIMAL]
    spec = SlidingWindowSpec(
        3, 1, tuple(SlidingAggregateSpec("avg", kind.value, place) for place, kind in enumerate(kinds))
    )

    def row() -> Row:
        decimal = normalize_decimal(Decimal(rng.randrange(-(10**36), 10**36)).scaleb(-rng.randrange(38)))
        return rng.choice([0.1, 0.2, 0.3, awkward(rng)]), rng.randrange(-(2**63), 2**63), decimal

    rows: list[tuple[int, Row]] = sorted((rng.randrange(900), row()) for _ in range(3000))
    script: Script = [("take", *row) for row in rows] + [("close", closed) for closed in range(0, 1000, 7)]
    said = plain(list(expected(spec, kinds, script)))
    assert plain(slide_in_python(spec, script)) == said
    assert in_java([{"spec": json.loads(spec.to_json()), "script": plain(script)}]) == [said]


def test_the_ends_of_the_range() -> None:
    assert to_units(1e-21) == 10**17
    assert to_units(-math.nextafter(1e25, 0)) < -(10**62)
    assert to_units(0.0) == to_units(-0.0) == 0


@pytest.mark.kernel
def test_what_the_machine_refuses(in_java: Java) -> None:
    spec = SlidingWindowSpec(3, 5, (COUNT,))
    machine = SlidingWindowMachine(spec)
    machine.take(10, ())
    assert list(machine.advance(12)) == [(10, (1,))]
    with pytest.raises(PlanError, match="arrived after all windows before 15 were emitted"):
        machine.take(10, ())
    with pytest.raises(PlanError, match="not a window"):
        machine.take(16, ())
    document = json.loads(spec.to_json())
    late = [["take", 10, []], ["close", 12], ["take", 10, []]]
    scripts = [late, [["take", 16, []]], [["load", [7, 83]]], [["load", [1, 87]]], [["load", []]]]
    said = [answer[-1]["error"] for answer in in_java([{"spec": document, "script": script} for script in scripts])]
    assert "arrived after all windows before 15 were emitted" in said[0]
    assert "not a window" in said[1]
    assert said[2].endswith("the state of slide has version 7, not 1: start without the old state")
    assert said[3].endswith("start without the old state")
    assert said[4].endswith("start without the old state")
    with pytest.raises(DataError, match="has version 7, not 1"):
        SlidingWindowMachine.load(spec, b"\x07")
    with pytest.raises(DataError, match="was given to slide"):
        SlidingWindowMachine.load(spec, codec.save("pairs", []))


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((10, 1), "a row of tick 10 leaves at 10: no window after it"),
        ((5, 1), "a row of tick 10 leaves at 5: no window after it"),
        ((18, 1), "a row of tick 10 leaves at 18: no window after it, these are 5 apart"),
        ((None, 1), "a row of tick 10 has no tick at which it leaves"),
    ],
)
def test_ends_that_the_machine_refuses(row: Row, words: str, in_java: Java) -> None:
    spec = SlidingWindowSpec(None, 5, (COUNT, SlidingAggregateSpec("sum", "integer", 0)))
    script: Script = [("take", 10, (20, 3)), ("take", 10, row)]
    with pytest.raises(PlanError, match=words):
        slide_in_python(spec, script)
    document = json.loads(spec.to_json())
    [[said], [other]] = in_java(
        [{"spec": document, "script": plain(script)}, {"spec": document, "script": [["load", [1, 83]]]}]
    )
    assert said["error"].startswith(f"IllegalArgumentException: {words}")
    assert other["error"].endswith("start without the old state")


def test_specifications() -> None:
    with pytest.raises(PlanError, match="no sliding sum of string"):
        SlidingAggregateSpec("sum", "string", 0)
    with pytest.raises(PlanError, match="no sliding median"):
        SlidingAggregateSpec("median", "float", 0)
    with pytest.raises(PlanError, match="needs an argument"):
        SlidingAggregateSpec("max", "float", None)
    with pytest.raises(PlanError, match="at least one window"):
        SlidingWindowSpec(0, 1, ())
    spec = SlidingWindowSpec(2, 3, (COUNT, SlidingAggregateSpec("avg", "decimal", 1)))
    assert SlidingWindowSpec.from_json(spec.to_json()) == spec
    ends = SlidingWindowSpec(None, 3, (COUNT,))
    assert '"copies":null' in ends.to_json()
    assert SlidingWindowSpec.from_json(ends.to_json()) == ends
    with pytest.raises(PlanError, match="at least one tick apart"):
        SlidingWindowSpec(None, 0, ())
