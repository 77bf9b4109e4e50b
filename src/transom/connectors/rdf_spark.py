"""Messages of RDF on Spark: a column of payloads to statements, in Arrow batches; broken ones beside them."""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.connectors.rdf_payloads import SCHEMA, RdfReader, batches
from transom.errors import UsageError
from transom.model.reasons import Reason


def parse_payloads(frame: DataFrame, reader: RdfReader, payload: str = "payload", time: str | None = "t") -> DataFrame:
    """The statements of messages as rows `tick position s p o g`, terms as N-Triples writes them.

    `position` is the place of a statement in its message, and `g` is NULL for the default graph. `time` is the column
    that says when a message came, as a tick, a timestamp or text; None where messages state it themselves. A message
    that cannot be read is one row with its reason in `dead`, more in `words`, and itself in `payload`.
    """
    if time is None and reader.time is None:
        raise UsageError("these messages have no time", hint="name a column, or a predicate that states it")
    columns = [payload] if time is None else [payload, time]
    for name in columns:
        if name not in frame.columns:
            raise UsageError(f"no column {name}", hint=f"the columns are {', '.join(frame.columns)}")
    chosen = frame.select(*(F.col(f"`{name}`") for name in columns))
    return chosen.mapInArrow(partial(batches, reader, timed=time is not None), SCHEMA)


def only_statements(frame: DataFrame, name: str | None = None) -> DataFrame:
    """The statements of what `parse_payloads` gives, as queries take them; with `name`, the others are counted."""
    if name is not None:
        counted = [F.count_if(F.col("dead") == F.lit(reason.value)).alias(reason.name.lower()) for reason in Reason]
        frame = frame.observe(name, *counted)
    return frame.where(F.col("dead").isNull()).select("tick", "position", "s", "p", "o", "g")


def set_aside(frame: DataFrame) -> DataFrame:
    """The messages that `parse_payloads` could not read: `dead`, `words`, `payload`."""
    return frame.where(F.col("dead").isNotNull()).select("dead", "words", "payload")
