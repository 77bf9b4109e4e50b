"""Sources of rows: `open_stream` and `open_table` read an extent from the source that the catalog declares.

Each source's reader is imported only when an extent uses that source.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.servers import HttpPoll, HttpPush, Kafka, Modbus, Mqtt, OpcUa, Postgres
from transom.catalog.sources import Files, FileVersions, Format, FromQuery, Generator, StatementTemplate, Table
from transom.connectors.rows import elements, ordered_versions, versions
from transom.errors import UsageError
from transom.model.bag import Element, TableVersion
from transom.model.rdf.answer import RejectedMessage
from transom.model.time import Calendar

__all__ = ["elements", "open_stream", "open_table", "versions"]


def open_stream(
    extent: Extent,
    calendar: Calendar,
    catalog_folder: Path | None = None,
    until: int | None = None,
    rejected: list[RejectedMessage] | None = None,
) -> list[Element]:
    """Read a stream's rows up to tick `until` (None: all; RDF: always all); add rejected messages to `rejected`.

    Relative paths start from `catalog_folder`, that of the catalog. Invalid RDF messages, and rows that the source
    rejects, are added to `rejected`. UsageError if the extent has no source, is stored, or is generated without
    `until`.
    """
    match extent.source:
        case None:
            raise missing_source(extent)
        case Files(format=Format.STATEMENTS) as source if extent.is_stream:
            from transom.connectors.files.statements import read_statements

            return read_statements(extent, source, calendar, catalog_folder, [] if rejected is None else rejected)
        case Files() as source if extent.kind is not ExtentKind.STORED:
            from transom.connectors.files.read import read_elements

            return read_elements(extent, source, calendar, catalog_folder, until, rejected)
        case Generator() as source if extent.kind is not ExtentKind.STORED:
            if until is None:
                raise UsageError(
                    f"{extent.name} is generated without end",
                    hint="say until which tick, with --until 600 (until=600)",
                )
            from transom.connectors.generate.read import read_generated

            return read_generated(extent, source, calendar, until)
        case Modbus(log=log) | OpcUa(log=log) | HttpPoll(log=log) | HttpPush(log=log) | Mqtt(log=log):
            from transom.connectors.log.read import read_log

            return read_log(extent, log, catalog_folder, until)
        case Kafka() as source:
            from transom.connectors.kafka.read import read_topic

            return read_topic(extent, source, calendar, until, rejected)
        case Files() | FileVersions() | Generator() | Table() | Postgres() | FromQuery() | StatementTemplate():
            raise UsageError(f"{extent.name} is no stream", hint="open_table reads stored extents")
        case _:
            assert_never(extent.source)


def open_table(
    extent: Extent, calendar: Calendar, catalog_folder: Path | None = None, until: int | None = None
) -> list[TableVersion]:
    """Read the versions of a stored table or graph up to tick `until` (None: all) from its source.

    Relative paths start from `catalog_folder`. UsageError for a stream.
    """
    match extent.source:
        case None:
            raise missing_source(extent)
        case Files(format=Format.STATEMENTS) as source if extent.kind is ExtentKind.STORED:
            from transom.connectors.files.statements import read_graph

            return read_graph(extent, source, catalog_folder)
        case (Files() | FileVersions()) as source if extent.kind is ExtentKind.STORED:
            from transom.connectors.files.read import read_versions

            return read_versions(extent, source, calendar, catalog_folder, until)
        case Postgres(log=log):
            from transom.connectors.log.read import read_changes

            return read_changes(extent, log, catalog_folder, until)
        case Table(versions=declared) if extent.kind is ExtentKind.STORED:
            return ordered_versions(declared, until)
        case (
            Files()
            | FileVersions()
            | Generator()
            | Table()
            | Modbus()
            | OpcUa()
            | HttpPoll()
            | HttpPush()
            | Mqtt()
            | Kafka()
            | FromQuery()
            | StatementTemplate()
        ):
            raise UsageError(f"{extent.name} is no stored table", hint="open_stream reads sensed and pushed extents")
        case _:
            assert_never(extent.source)


def missing_source(extent: Extent) -> UsageError:
    """Build the UsageError for a source or table that has neither rows from the caller nor a source in the catalog."""
    if extent.holds_statements:
        hint = f"give them as inputs, or add files: {extent.name}.ttl to the catalog"
        return UsageError(f"no statements for {extent.name}: it has no source", hint=hint)
    hint = f"give rows as inputs, or add source: {{files: {extent.name}.csv}} to the catalog"
    return UsageError(f"no rows for {extent.name}: it has no source", hint=hint)
