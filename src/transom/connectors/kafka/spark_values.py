"""Decode messages of a topic on Spark: raw cells, and the reasons of rejected messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import uuid4

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extent import Extent
from transom.catalog.resolve.kafka import HEADER_PREFIX
from transom.catalog.servers import Kafka, Payload
from transom.connectors.csv_lines_spark import with_cells
from transom.connectors.kafka.spark_avro import ParsedValues, RejectConditions, parse_avro
from transom.connectors.payloads import MAX_MESSAGE_BYTES
from transom.errors import UsageError
from transom.model.reject_reason import RejectReason

_VARIANT, _TEXT = T.VariantType(), T.StringType()
_END = uuid4().hex
"""A random text after JSON input that no message contains; it reveals trailing characters."""


@dataclass(frozen=True)
class Decoded:
    """Messages with a raw cell `r0`, ... for each attribute, and `rt` for the time.

    `why` is the reason to reject a message before its cells are read, else NULL; `unfit` is true if a value does not
    fit its type.
    `kinds` are the types of the cells, by `0`, ... and `t`. The cells in `texts` are text, parsed as in CSV. If a cell
    in `fields` is NULL, the message lacks that field.
    """

    frame: DataFrame
    kinds: dict[str, T.DataType]
    texts: frozenset[int]
    fields: frozenset[int]


def decode_messages(raw: DataFrame, extent: Extent, source: Kafka) -> Decoded:
    """Decode Kafka messages to one column per attribute, `r0`, ..., whose values are not converted yet.

    The values come from the payload or, as the catalog says, from the envelope: key, headers and timestamp.
    """
    envelope_columns = {name: (f"e{index}", field) for index, (name, field) in enumerate(source.envelope)}
    raw = raw.select("*", *(_envelope_column(field).alias(column) for column, field in envelope_columns.values()))
    texts = [column for column, field in envelope_columns.values() if field != "timestamp"]
    conditions: RejectConditions = [(~F.is_valid_utf8(column), RejectReason.BYTES) for column in texts]
    conditions += [(F.length(F.coalesce("value", F.lit(b""))) > F.lit(MAX_MESSAGE_BYTES), RejectReason.SIZE)]
    if source.payload is Payload.CSV:
        values = _parse_csv(raw, source.columns)
    else:
        values = parse_avro(raw, source) if source.payload is Payload.AVRO else _parse_json(raw)
    payload_paths = dict(source.fields)
    cells: list[Column] = []
    kinds: dict[str, T.DataType] = {}
    for index, name in enumerate(extent.names):
        if name in payload_paths:
            cell, kinds[str(index)] = values.find(payload_paths[name])
        else:
            column, field = envelope_columns[name]
            cell, kinds[str(index)] = F.col(column), T.TimestampType() if field == "timestamp" else _TEXT
        cells.append(cell.alias(f"r{index}"))
    moment, kinds["t"] = (F.col("timestamp"), T.TimestampType()) if source.time is None else values.find(source.time)
    payload_cells = frozenset(index for index, name in enumerate(extent.names) if name in payload_paths)
    text_cells = frozenset(
        index for index, name in enumerate(extent.names) if name in envelope_columns and kinds[str(index)] == _TEXT
    )
    why = first_reason(F.when(F.lit(False), F.lit("")), conditions + values.wrong)
    unfit = reduce(or_, values.unfit, F.lit(False))
    return Decoded(
        values.frame.select("*", *cells, moment.alias("rt"), why.alias("why"), unfit.alias("unfit")),
        kinds,
        text_cells | payload_cells if source.payload is Payload.CSV else text_cells,
        payload_cells if source.payload is Payload.JSON else frozenset(),
    )


def first_reason(earlier: Column, conditions: RejectConditions) -> Column:
    """Add (condition, reason) pairs to CASE column `earlier`; the first true condition gives the reject reason."""
    return reduce(lambda case, pair: case.when(pair[0], F.lit(pair[1].value)), conditions, earlier)


def _envelope_column(field: str) -> Column:
    """Return a Kafka message's part `field`: `timestamp`, `key` or, the last of its name, `header.NAME`."""
    if field == "timestamp":
        return F.col("timestamp")
    if field == "key":
        return F.col("key").cast("string")
    matching_headers = F.filter("headers", lambda header: header["key"] == F.lit(field.removeprefix(HEADER_PREFIX)))
    return F.try_element_at(matching_headers, F.lit(-1))["value"].cast("string")


def _text_values(raw: DataFrame) -> tuple[DataFrame, RejectConditions]:
    """Add the payloads as a text column, with the conditions that reject invalid UTF-8 or too large payloads.

    The column `text` is NULL for these.
    """
    text = F.col("value").cast("string")
    fits = (F.length("value") <= F.lit(MAX_MESSAGE_BYTES)) & F.is_valid_utf8(text)
    not_text = F.col("value").isNotNull() & F.col("text").isNull()
    return raw.select("*", F.when(fits, text).alias("text")), [(not_text, RejectReason.BYTES)]


def _parse_json(raw: DataFrame) -> ParsedValues:
    """Parse the payloads of Kafka messages as JSON objects; conditions in the result reject invalid messages."""
    raw, conditions = _text_values(raw)
    json = F.col("json")
    conditions += [(json.isNull(), RejectReason.TEXT), (~_is_object(F.col("text")), RejectReason.SHAPE)]
    raw = raw.select("*", _strict_json(F.col("text")).alias("json"))
    return ParsedValues(raw, conditions, lambda path: (_json_field(json, path), _VARIANT))


def _strict_json(text: Column) -> Column:
    """Parse a text column as JSON (variant); NULL if it is invalid or has characters after the JSON value.

    Spark ignores trailing characters. A flat object has none if its first closing brace is the last character. Any
    other text is parsed as the first of two array elements; the second is a marker that no message contains.
    """
    flat = text.startswith("{") & (F.instr(text, "}") == F.length(text))
    array = F.try_parse_json(F.concat(F.lit("["), text, F.lit(f',"{_END}"]')))
    is_complete = F.try_variant_get(array, "$[1]", "string") == F.lit(_END)
    first = F.try_variant_get(array, "$[0]", "variant")
    return F.when(flat, F.try_parse_json(text)).otherwise(F.when(is_complete, first))


def _is_object(text: Column) -> Column:
    """Build the condition that a text column of valid JSON holds an object, by its first character alone."""
    return text.startswith("{") | F.ltrim(text, F.lit(" \t\r\n")).startswith("{")


def _json_field(json: Column, path: str) -> Column:
    """Return the JSON value at a path such as `body.temp` or `readings.0`; NULL if there is none.

    A key equal to the whole path wins.
    """

    def value_at(parts: list[str]) -> Column:
        """Return the JSON value at a path of member names and array indexes (from 0); NULL if there is none."""
        steps = "".join(f"[{part}]" if part.isdecimal() else f"['{part}']" for part in parts)
        return F.try_variant_get(json, f"${steps}", "variant")

    if "'" in path:
        raise UsageError(f"the field {path} has a quote in its name", hint="read such a topic with to_df")
    named_value = F.try_variant_get(json, f"$['{path}']", "variant")
    return F.coalesce(named_value, value_at(path.split("."))) if "." in path else named_value


def _parse_csv(raw: DataFrame, columns: Sequence[str]) -> ParsedValues:
    """Parse payloads as CSV lines, as `parse_csv_line` in Python; conditions in the result reject invalid messages."""
    raw, conditions = _text_values(raw)
    raw = raw.select("*", F.regexp_replace("text", r"(\r\n|\r|\n)\z", "").alias("line"))
    raw = with_cells(raw)
    conditions += [
        (F.col("cells").isNull(), RejectReason.CSV),
        (F.size("cells") != F.lit(len(columns)), RejectReason.CELLS),
    ]

    def find_column(column: str) -> tuple[Column, T.DataType]:
        """Return the text of a CSV field, by its column name, and its Spark type (string); NULL if it is empty."""
        return F.nullif(F.get("cells", F.lit(columns.index(column))), F.lit("")), _TEXT

    return ParsedValues(raw, conditions, find_column)
