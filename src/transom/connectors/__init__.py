"""Sources of rows: `open_stream` and `open_table` read whatever source the catalog gives an extent.

The reader of a source is imported when an extent has that source.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from transom.catalog.extents import Extent, Kind
from transom.catalog.servers import HttpPoll, HttpPush, Kafka, Modbus, Mqtt, OpcUa, Postgres
from transom.catalog.sources import Files, FileVersions, FromQuery, Generate, Table
from transom.connectors.rows import elements, ordered_versions, versions
from transom.errors import UsageError
from transom.model.bag import Element, Version
from transom.model.time import Calendar

__all__ = ["elements", "open_stream", "open_table", "versions"]


def open_stream(
    extent: Extent, calendar: Calendar, folder: Path | None = None, until: int | None = None
) -> list[Element]:
    """The elements of a sensed or pushed extent from its source, none later than `until`."""
    match extent.source:
        case None:
            raise _no_source(extent)
        case Files() as source if extent.kind is not Kind.STORED:
            from transom.connectors.files.read import read_elements

            return read_elements(extent, source, calendar, folder, until)
        case Generate() as source if extent.kind is not Kind.STORED:
            if until is None:
                raise UsageError(
                    f"{extent.name} is generated without end",
                    hint="say until which tick, with until=600 or --until 600",
                )
            from transom.connectors.generate.read import read_generated

            return read_generated(extent, source, calendar, until)
        case Modbus(log=log) | OpcUa(log=log) | HttpPoll(log=log) | HttpPush(log=log) | Mqtt(log=log):
            from transom.connectors.log.read import read_log

            return read_log(extent, log, folder, until)
        case Kafka() as source:
            from transom.connectors.kafka.read import read_topic

            return read_topic(extent, source, calendar, until)
        case Files() | FileVersions() | Generate() | Table() | Postgres() | FromQuery():
            raise UsageError(f"{extent.name} is no stream", hint="open_table reads stored extents")
        case _:
            assert_never(extent.source)


def open_table(
    extent: Extent, calendar: Calendar, folder: Path | None = None, until: int | None = None
) -> list[Version]:
    """The versions of a stored extent from its source, none later than `until`."""
    match extent.source:
        case None:
            raise _no_source(extent)
        case (Files() | FileVersions()) as source if extent.kind is Kind.STORED:
            from transom.connectors.files.read import read_versions

            return read_versions(extent, source, calendar, folder, until)
        case Postgres(log=log):
            from transom.connectors.log.read import read_changes

            return read_changes(extent, log, folder, until)
        case Table(versions=found) if extent.kind is Kind.STORED:
            return ordered_versions(found, until)
        case (
            Files()
            | FileVersions()
            | Generate()
            | Table()
            | Modbus()
            | OpcUa()
            | HttpPoll()
            | HttpPush()
            | Mqtt()
            | Kafka()
            | FromQuery()
        ):
            raise UsageError(f"{extent.name} is no stored table", hint="open_stream reads sensed and pushed extents")
        case _:
            assert_never(extent.source)


def _no_source(extent: Extent) -> UsageError:
    hint = f"give rows as inputs, or add source: {{files: {extent.name}.csv}} to the catalog"
    return UsageError(f"no rows for {extent.name}: it has no source", hint=hint)
