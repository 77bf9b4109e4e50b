"""The hint for a source most of whose rows are rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_app import transom as command
from tests.connectors.test_rejected_messages import AT, row, topic, write_query
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.connectors.kafka import read
from transom.connectors.rejections import rejection_hint
from transom.model.reject_reason import is_mostly_rejected

NOW = 75_000_000  # the tick of 2026-05-18 after an epoch in 2024
AHEAD = f"tick {{}}, the last one that is allowed now is {NOW}"
UNIX = 1_704_067_200 + NOW


def catalog_of(source: str) -> Catalog:
    entry = f"{{declare: 'pushed (x:float, n:integer)', source: {{{source}}}}}"
    return Catalog.read(f"epoch: 2024-01-01\nextents: {{a: {entry}}}")


FILES = "files: {path: a.csv, time: at, invalid_rows: reject"
SEMICOLON = "delimiter: ';'"


@pytest.mark.parametrize(
    ("source", "reason", "example", "hint"),
    [
        (FILES, "ahead", AHEAD.format(UNIX * 1000), "milliseconds since 1970? then write `epoch: 1970-01-01`"),
        (FILES, "ahead", AHEAD.format(UNIX), "are the values seconds since 1970?"),
        (FILES, "ahead", AHEAD.format(NOW * 1000), "are the values milliseconds? then shorten `tick`"),
        (FILES, "ahead", AHEAD.format(NOW * 60), "are the values in another unit than `tick`"),
        (FILES, "ahead", AHEAD.format(10**30), "are the values in another unit than `tick`"),
        (FILES, "before tick 0", "at: '2023-05-01 07:00' lies before tick 0", "before 2023-05-01 07:00"),
        (FILES, "before tick 0", "at: 2023-05-01T07:00:00Z lies before tick 0", "`epoch` in the catalog before 2023-"),
        (FILES, "before tick 0", "at: '01/05/2023' lies before tick 0", "set `epoch` in the catalog earlier"),
        (FILES, "before tick 0", "at: '-5' lies before tick 0", "ticks are whole numbers from 0"),
        (FILES, "no time", "at: '1.5.2024' is not an instant", "such as `time_format: '%d/%m/%Y %H:%M:%S'`"),
        (f"{FILES}, time_format: '%d.%m.%Y'", "no time", "at: 'x' is", "correct the times, or `time_format`"),
        ("kafka: {servers: 'a:1', topic: t}", "no time", "no field at", "write a whole number of ticks, or ISO 8601"),
        (FILES, "wrong type", "x: '1,5' is not of type float", "write 1.5, or use another `delimiter`"),
        (f"{FILES}, {SEMICOLON}", "wrong type", "x: '1,5' is not of type float", "write `decimal: ','` under files"),
        (f"{FILES}, {SEMICOLON}, decimal: ','", "wrong type", "x: '1.5' is not of type float", "remove `decimal`"),
        (FILES, "wrong type", "n: 'x' is not of type integer", "write a whole number of at most 64 bits"),
    ],
)
def test_the_hint_names_the_setting(source: str, reason: str, example: str, hint: str) -> None:
    catalog = catalog_of(f"{source}}}" if source.startswith("files") else source)
    found = rejection_hint(catalog.extent("a"), catalog.calendar, {reason: 10}, 9, example)
    assert found is not None
    assert hint in found


def extent() -> Extent:
    return catalog_of(f"{FILES}}}").extent("a")


def test_the_most_frequent_reason_counts() -> None:
    counts = {"not CSV": 3, "no time": 9, "ahead": 8}
    assert "time_format" in (rejection_hint(extent(), Catalog().calendar, counts, 0, "at: 'x'") or "")
    assert rejection_hint(extent(), Catalog().calendar, {"not CSV": 30}, 0, "x") is None


@pytest.mark.parametrize(
    ("rejected", "used", "most"), [(10, 9, True), (10, 10, False), (9, 0, False), (10, 0, True), (0, 0, False)]
)
def test_more_than_half_and_at_least_ten(rejected: int, used: int, most: bool) -> None:
    assert is_mostly_rejected({"ahead": rejected}, used) is most


def test_milliseconds_of_a_topic_are_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = [row((AT + number) * 1000) for number in range(300)]
    monkeypatch.setattr(read, "messages", lambda source: topic(values))
    done = command("simulate", write_query(tmp_path))
    assert "300 ahead; the first is p-0@0: tick 1717200000000, the last one that is allowed now is" in done.stderr
    assert "; most messages are rejected: are the values milliseconds since 1970? then write" in done.stderr


@pytest.mark.parametrize(
    ("cell", "more", "hint"),
    [
        ("2023-05-01 07:00:00,1", "", "set `epoch` in the catalog before 2023-05-01 07:00:00"),
        ("2023-05-01 09:00:00,1", ", zone: Europe/Berlin", "set `epoch` in the catalog before 2023-05-01T07:00:00Z"),
        (
            "5;1,5",
            ", delimiter: ';'",
            "the numbers have a decimal comma: write `decimal: ','` under files in the catalog",
        ),
    ],
)
def test_files_have_the_hint(tmp_path: Path, cell: str, more: str, hint: str) -> None:
    mark = ";" if ";" in cell else ","
    (tmp_path / "a.csv").write_text(f"at{mark}x\n" + f"{cell}\n" * 12 + f"6{mark}1\n" * 11, "utf-8")
    source = f"{{files: {{path: a.csv, time: at, invalid_rows: reject{more}}}}}"
    catalog = f"epoch: 2024-01-01\nextents: {{a: {{declare: 'pushed (x:float)', source: {source}}}}}"
    (tmp_path / "catalog.yaml").write_text(catalog, "utf-8")
    (tmp_path / "q.cql").write_text("SELECT x FROM a [NOW]", "utf-8")
    done = command("simulate", tmp_path / "q.cql")
    assert done.stderr.splitlines()[0].endswith(f"; most rows are rejected: {hint}")
    assert "datetime" not in done.stderr
