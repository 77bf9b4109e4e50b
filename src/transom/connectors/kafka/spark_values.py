"""Messages of a topic taken apart on Spark: cells as they stand there, and what is wrong with those that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import uuid4

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extents import Extent
from transom.catalog.kafka_entries import HEADER
from transom.catalog.servers import Kafka, Payload
from transom.connectors.csv_lines import BREAK
from transom.connectors.kafka.spark_avro import Values, Wrong, avro
from transom.connectors.payloads import LARGEST
from transom.errors import UsageError
from transom.model.reasons import Reason

_VARIANT, _TEXT = T.VariantType(), T.StringType()
_END = uuid4().hex
"""What stands behind a text that is read as JSON, and in none."""


@dataclass(frozen=True)
class Apart:
    """Messages with a raw cell `r0`, ... for each attribute, and `rt` for the time.

    `why` says what is wrong with a message as a whole, NULL if nothing; `unfit` whether a value has none of its type.
    `kinds` are the types of the cells, by `0`, ... and `t`. The cells of `texts` say their values as CSV does. Where
    one of `fields` is NULL, the message lacks it.
    """

    frame: DataFrame
    kinds: dict[str, T.DataType]
    texts: frozenset[int]
    fields: frozenset[int]


def take_apart(raw: DataFrame, extent: Extent, source: Kafka) -> Apart:
    """The cells of messages: from their values, and from what comes with them."""
    outside = {name: (f"e{place}", what) for place, (name, what) in enumerate(source.envelope)}
    raw = raw.select("*", *(_beside(what).alias(own) for own, what in outside.values()))
    texts = [own for own, what in outside.values() if what != "timestamp"]
    wrong: Wrong = [(~F.is_valid_utf8(own), Reason.BYTES) for own in texts]
    wrong += [(F.length(F.coalesce("value", F.lit(b""))) > F.lit(LARGEST), Reason.SIZE)]
    if source.payload is Payload.CSV:
        values = _csv(raw, source.columns)
    else:
        values = avro(raw, source) if source.payload is Payload.AVRO else _json(raw)
    inside = dict(source.fields)
    cells: list[Column] = []
    kinds: dict[str, T.DataType] = {}
    for place, name in enumerate(extent.names):
        if name in inside:
            cell, kinds[str(place)] = values.find(inside[name])
        else:
            own, what = outside[name]
            cell, kinds[str(place)] = F.col(own), T.TimestampType() if what == "timestamp" else _TEXT
        cells.append(cell.alias(f"r{place}"))
    moment, kinds["t"] = (F.col("timestamp"), T.TimestampType()) if source.time is None else values.find(source.time)
    found = frozenset(place for place, name in enumerate(extent.names) if name in inside)
    told = frozenset(place for place, name in enumerate(extent.names) if name in outside and kinds[str(place)] == _TEXT)
    why = said(F.when(F.lit(False), F.lit("")), wrong + values.wrong)
    unfit = reduce(or_, values.unfit, F.lit(False))
    return Apart(
        values.frame.select("*", *cells, moment.alias("rt"), why.alias("why"), unfit.alias("unfit")),
        kinds,
        told | found if source.payload is Payload.CSV else told,
        found if source.payload is Payload.JSON else frozenset(),
    )


def said(found: Column, wrong: Wrong) -> Column:
    """A reason that is found already, else the first of those that hold."""
    return reduce(lambda before, one: before.when(one[0], F.lit(one[1].value)), wrong, found)


def _beside(what: str) -> Column:
    """The key, the last header of a name, or the stamp of the broker."""
    if what == "timestamp":
        return F.col("timestamp")
    if what == "key":
        return F.col("key").cast("string")
    same = F.filter("headers", lambda header: header["key"] == F.lit(what.removeprefix(HEADER)))
    return F.try_element_at(same, F.lit(-1))["value"].cast("string")


def _texts(raw: DataFrame) -> tuple[DataFrame, Wrong]:
    """The values as `text`, NULL where they are none or too large; the latter is found before."""
    text = F.col("value").cast("string")
    fits = (F.length("value") <= F.lit(LARGEST)) & F.is_valid_utf8(text)
    broken = F.col("value").isNotNull() & F.col("text").isNull()
    return raw.select("*", F.when(fits, text).alias("text")), [(broken, Reason.BYTES)]


def _json(raw: DataFrame) -> Values:
    raw, wrong = _texts(raw)
    json = F.col("json")
    wrong += [(json.isNull(), Reason.TEXT), (~_is_object(F.col("text")), Reason.SHAPE)]
    raw = raw.select("*", _parsed(F.col("text")).alias("json"))
    return Values(raw, wrong, lambda path: (_at(json, path), _VARIANT))


def _parsed(text: Column) -> Column:
    """A text as JSON, NULL where it is none.

    Spark would pass over what stands behind it. Behind an object without others in it there is nothing if its first
    brace that closes is the last character; anything else is read as the first of two entries of a list, the second of
    which no message knows.
    """
    flat = text.startswith("{") & (F.instr(text, "}") == F.length(text))
    both = F.try_parse_json(F.concat(F.lit("["), text, F.lit(f',"{_END}"]')))
    alone = F.try_variant_get(both, "$[1]", "string") == F.lit(_END)
    first = F.try_variant_get(both, "$[0]", "variant")
    return F.when(flat, F.try_parse_json(text)).otherwise(F.when(alone, first))


def _is_object(text: Column) -> Column:
    """Whether what is known to be JSON is an object; the variant would tell only with all that is in it."""
    return text.startswith("{") | F.ltrim(text, F.lit(" \t\r\n")).startswith("{")


def _at(json: Column, path: str) -> Column:
    """What stands at a path such as `body.temp` or `readings.0`; a key that is there as it is comes first."""

    def found(parts: list[str]) -> Column:
        steps = "".join(f"[{part}]" if part.isdecimal() else f"['{part}']" for part in parts)
        return F.try_variant_get(json, f"${steps}", "variant")

    if "'" in path:
        raise UsageError(f"the field {path} has a quote in its name", hint="read such a topic with to_df")
    whole = F.try_variant_get(json, f"$['{path}']", "variant")
    return F.coalesce(whole, found(path.split("."))) if "." in path else whole


def _csv(raw: DataFrame, columns: Sequence[str]) -> Values:
    """Lines of CSV, taken apart as `csv_lines.line_cells` does it: what stands between quotes is left as it is."""
    raw, wrong = _texts(raw)
    raw = raw.select("*", F.regexp_replace("text", r"(\r\n|\r|\n)\z", "").alias("line"))
    raw = raw.select("*", F.split("line", '"', -1).alias("parts"))
    last = F.size("parts") - 1

    def sound(part: Column, place: Column) -> Column:
        closed = (place == 0) | part.startswith(",") | ((part == "") & (place == last))
        opens = (place == last) | part.rlike(r"(\A|,) *\z")
        doubled = (part == "") & (place > 0) & (place < last)
        return (place % 2 == 1) | doubled | (closed & opens)

    def written(part: Column, place: Column) -> Column:
        doubled = (part == "") & (place > 0) & (place < last)
        return F.when(place % 2 == 1, part).when(doubled, F.lit('"')).otherwise(_broken(part, place == 0))

    one = (F.col("line") != "") & ~F.col("line").rlike(f"[\r\n{BREAK}]")
    quoted = F.col("line").contains('"')
    whole = F.forall(F.transform("parts", sound), lambda is_so: is_so)
    fine = one & (~quoted | ((last % 2 == 0) & whole))
    flat = F.when(quoted, F.array_join(F.transform("parts", written), "")).otherwise(
        _broken(F.col("line"), F.lit(True))
    )
    raw = raw.select("*", F.when(fine, F.split(flat, BREAK, -1)).alias("cells"))
    wrong += [(F.col("cells").isNull(), Reason.CSV), (F.size("cells") != F.lit(len(columns)), Reason.CELLS)]

    def find(column: str) -> tuple[Column, T.DataType]:
        return F.nullif(F.get("cells", F.lit(columns.index(column))), F.lit("")), _TEXT

    return Values(raw, wrong, find)


def _broken(part: Column, first: Column) -> Column:
    """A part outside of quotes, with a mark for each comma and the blanks behind it."""
    begun = F.when(first, F.regexp_replace(part, "^ +", "")).otherwise(part)
    return F.regexp_replace(begun, ", *", BREAK)
