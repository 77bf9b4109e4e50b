"""`time_format`: what it reads, and what it refuses; `tests/spark` compares Spark on the same texts."""

from __future__ import annotations

from datetime import datetime

import pytest

from transom.catalog import Catalog
from transom.catalog.sources import Files
from transom.catalog.time_formats import SUPPORTED_DIRECTIVES, read_time_format
from transom.errors import CatalogError

DAY = "%d/%m/%Y %H:%M:%S"
US = "%m/%d/%y %I:%M %p"
PACKED = "%Y%m%d%H%M%S.%f"
NAMED = "%d-%b-%Y T%H %z"
TEXTS = [
    (DAY, "01/05/2024 08:00:00"),
    (DAY, " 1/5/2024 8:0:7\t"),
    (DAY, "31/02/2024 23:59:59"),
    (DAY, "32/01/2024 00:00:00"),
    (DAY, "01/13/2024 00:00:00"),
    (DAY, "01/05/2024 24:00:00"),
    (DAY, "01/05/2024 23:60:00"),
    (DAY, "01/05/2024 23:59:60"),
    (DAY, "01/05/2024  08:00:00"),
    (DAY, "01/05/2024 08:00:00\n"),
    (DAY, "\u0660\u0661/05/2024 08:00:00"),
    (DAY, "001/05/2024 08:00:00"),
    (DAY, ""),
    (US, "5/1/24 8:05 PM"),
    (US, "05/01/69 12:00 am"),
    (US, "05/01/68 12:00 pM"),
    (US, "05/01/68 13:00 PM"),
    (US, "05/01/68 0:00 AM"),
    (PACKED, "20240501080007.5"),
    (PACKED, "20240501080007.123456"),
    (PACKED, "20240501080007.1234567"),
    (PACKED, "2024501080007.5"),
    (NAMED, "1-MAY-2024 T8 Z"),
    (NAMED, "1-may-2024 T08 +02:00"),
    (NAMED, "1-May-2024 T08 -0230"),
    (NAMED, "1-Mai-2024 T08 Z"),
    (NAMED, "1-May-2024 T08 +24:00"),
    ("%Y.%m.%d (100%%) [a*b]\\", "2024.05.01 (100%) [a*b]\\"),
    ("%Y.%m.%d (100%%) [a*b]\\", "2024x05x01 (100%) [aab]\\"),
]


@pytest.mark.parametrize(
    ("written", "text", "iso"),
    [
        (DAY, "1/5/2024 8:0:7", "2024-05-01T08:00:07.000000"),
        (US, "5/1/24 8:05 PM", "2024-05-01T20:05:00.000000"),
        (US, "5/1/69 12:00 AM", "1969-05-01T00:00:00.000000"),
        (US, "5/1/68 12:00 PM", "2068-05-01T12:00:00.000000"),
        (PACKED, "20240501080007.5", "2024-05-01T08:00:07.500000"),
        (NAMED, "1-may-2024 T8 -0230", "2024-05-01T08:00:00.000000-0230"),
        ("%Y-%m-%d", "2024-05-01", "2024-05-01T00:00:00.000000"),
    ],
)
def test_times_are_read_as_iso(written: str, text: str, iso: str) -> None:
    assert read_time_format(written).iso(text) == iso


def test_strptime_agrees_on_what_is_read() -> None:
    """Whatever we read, strptime reads as the same instant."""
    both = 0
    for written, text in TEXTS:
        found = read_time_format(written).iso(text)
        if found is None:
            continue
        try:
            ours = datetime.fromisoformat(found)
        except ValueError:
            with pytest.raises(ValueError, match=r"day|does not match"):
                datetime.strptime(text.strip(), written)
            continue
        assert ours == datetime.strptime(text.strip(), written)
        both += 1
    assert both == 11


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("%j %Y", "time_format does not take %j"),
        ("%Y-%m-%d %Z", "time_format does not take %Z"),
        ("%Y-%m-%d %", "time_format does not take %"),
        ("%H:%M", "has no %Y and no %m and no %d"),
        ("%Y %y %m %d", "two directives for one part"),
        ("%Y %m %b %d", "two directives for one part"),
        ("%Y-%m-%d %I", "%I and %p go together"),
        ("%Y-%m-%d %H %p", "%I and %p go together"),
        ("%Y-%m-%d\x00", "is not a format of times"),
    ],
)
def test_other_formats_are_refused(written: str, message: str) -> None:
    with pytest.raises(ValueError, match="^.*" + message):
        read_time_format(written)


def catalog(files: str) -> Catalog:
    return Catalog.read(f"extents:\n  a:\n    declare: pushed (x:integer)\n    source: {{files: {files}}}\n")


def test_catalog_entries() -> None:
    source = catalog("{path: a.csv, time: At, time_format: '%Y-%m-%d', fields: {x: X y}}").extents["a"].source
    assert source == Files(("a.csv",), source.format, "At", (("x", "X y"),), read_time_format("%Y-%m-%d"))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("{path: a.csv, time_format: '%Y-%m-%d'}", "for the column that time names"),
        ("{path: a.parquet, time: at, time_format: '%Y-%m-%d'}", "parquet files have no time_format"),
        ("{path: a.csv, time: at, time_format: '%j'}", f"it takes {SUPPORTED_DIRECTIVES} and %%"),
        ("{path: a.csv, fields: {y: Y}}", "no attribute 'y'"),
        ("{path: a.csv, fields: {x: 1}}", "expected"),
    ],
)
def test_entries_that_do_not_fit(files: str, message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog(files)
    assert message in str(caught.value)
    assert caught.value.position is not None
