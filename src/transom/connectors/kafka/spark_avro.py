"""Records of Avro on Spark, decoded by Spark's own reader, which comes in a jar of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.avro import UNITS, Leaf, Record
from transom.catalog.servers import Kafka
from transom.connectors.payloads import LARGEST
from transom.errors import UsageError
from transom.model.reasons import Reason
from transom.spark.types import instant

_KINDS: dict[str, T.DataType] = {
    "boolean": T.BooleanType(),
    "int": T.IntegerType(),
    "long": T.LongType(),
    "float": T.FloatType(),
    "double": T.DoubleType(),
    "string": T.StringType(),
    "enum": T.StringType(),
}
"""What Spark makes of the types of Avro."""

Wrong: TypeAlias = list[tuple[Column, Reason]]
"""What may be wrong with a message, in the order in which the plain reader looks."""


@dataclass(frozen=True)
class Values:
    """Messages whose values are read: what may be wrong with them, and where a field of theirs is and of which type.

    `unfit` is where a single value of theirs has none of its type.
    """

    frame: DataFrame
    wrong: Wrong
    find: Callable[[str], tuple[Column, T.DataType]]
    unfit: list[Column] = field(default_factory=list)


def avro(raw: DataFrame, source: Kafka) -> Values:
    """Records of Avro, decoded by Spark's own reader.

    It gives a record without values where it cannot read one. Inside of another record, which takes no bytes, such a
    one is told from a record that holds nothing.
    """
    record = Record(source.schema or "")
    own = json.loads(record.plain(decimals=True))
    schema = json.dumps({"type": "record", "name": "transom_one", "fields": [{"name": "r", "type": own}]})
    fits = F.when(F.length("value") <= F.lit(LARGEST), F.col("value"))
    permissive = F.create_map(F.lit("mode"), F.lit("PERMISSIVE"))
    try:
        raw = raw.select("*", F.call_function("from_avro", fits, F.lit(schema), permissive).alias("avro"))
        wrong: Wrong = [(F.col("avro").isNull() | F.col("avro.r").isNull(), Reason.AVRO)]
        raw.schema  # noqa: B018 - a session elsewhere looks at it only now
    except Exception as error:
        if "AVRO_NOT_LOADED" not in str(error):
            raise
        from pyspark import __version__

        jar = f"org.apache.spark:spark-avro_2.13:{__version__}"
        raise UsageError("Spark has no reader for Avro", hint=f"start it with --packages {jar}") from error
    named = dict.fromkeys([path for _, path in source.fields] + ([] if source.time is None else [source.time]))
    leaves = {path: record.leaf(path) for path in named}
    wrong += [(~F.is_valid_utf8(_inside(leaf)), Reason.BYTES) for leaf in leaves.values() if leaf.kind == "string"]

    def find(path: str) -> tuple[Column, T.DataType]:
        leaf = leaves[path]
        if leaf.kind in UNITS:
            return _instant(leaf), T.TimestampType()
        return _inside(leaf), _KINDS.get(leaf.kind) or T.DecimalType(leaf.precision, leaf.scale)

    instants = [leaves[path] for _, path in source.fields if leaves[path].kind in UNITS]
    unfit = [_inside(leaf).isNotNull() & _instant(leaf).isNull() for leaf in instants]
    return Values(raw, wrong, find, unfit)


def _inside(leaf: Leaf) -> Column:
    """What stands somewhere in a record; what is inside of nothing, or behind the end of a list, is nothing."""
    here = F.col("avro.r")
    for step, name in leaf.steps:
        if step == "field":
            here = here[name]
        else:
            here = F.get(here, F.lit(int(name))) if step == "item" else F.try_element_at(here, F.lit(name))
    return here


def _instant(leaf: Leaf) -> Column:
    """The instant that a number means; NULL outside the years 1 to 9999."""
    return instant(F.try_multiply(_inside(leaf).cast("long"), F.lit(UNITS[leaf.kind])))
