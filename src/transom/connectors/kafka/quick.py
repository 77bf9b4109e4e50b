"""JSON messages that are as they should be, read in one go; the others are left to whoever finds out what is wrong.

Spark's `from_json` with the types of the attributes is several times as fast as a variant that is asked for each field
and its kind, but it does not say all that the plain reader does. So its word is taken only where it can mean nothing
else: all fields are there and of their types, and none is null.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extents import Extent
from transom.catalog.servers import Kafka
from transom.model.time import Calendar
from transom.model.types import Type
from transom.spark.cells import tick_of_text
from transom.spark.types import DECIMAL, plain_instant

END = "\x01"
"""What stands behind a message when it is read: JSON that goes on after its end would go unnoticed."""
_BAD = "\x02"
_READ = {
    "columnNameOfCorruptRecord": _BAD,
    "mode": "PERMISSIVE",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
_TEXT = T.StringType()
_AS: dict[Type, T.DataType] = {
    Type.INTEGER: T.LongType(),
    Type.TIME: T.LongType(),
    Type.FLOAT: T.DoubleType(),
    Type.BOOLEAN: T.BooleanType(),
    Type.STRING: _TEXT,
    Type.TIMESTAMP: _TEXT,
    Type.DECIMAL: _TEXT,
}
_TICK = r"\A[0-9]{1,18}\z"
_SHORT = r"\A-?[0-9]{1,9}(?:\.[0-9]{1,6})?\z"
_MINUS, _NINE = 45, 57
_OPENING = (ord("["), ord("{"))

_Tree = dict[str, "T.DataType | _Tree"]


@dataclass(frozen=True)
class Quick:
    """How the messages of a source are read: what is read of them first, and what is made of that.

    `read` is a column that wants the name `m`. Then `tick`, if the source has a field for it, and `values` are those of
    a message for which none of them is NULL and `holds` is true.
    """

    read: Column
    tick: Column | None
    values: tuple[Column, ...]
    holds: Column


def quick(text: Column, extent: Extent, source: Kafka, calendar: Calendar) -> Quick | None:
    """A quick way to read valid UTF-8 in `text`; None for fields that it cannot read."""
    places = dict(source.fields)
    kinds = {attribute.name: attribute.type for attribute in extent.schema}
    wanted = [(places[name], _AS.get(kinds[name])) for name in extent.names if name in places]
    if source.time is not None:
        wanted.append((source.time, _TEXT))
    tree = _tree(wanted)
    if tree is None or len(places) < len(kinds):
        return None
    whole = T.StructType().add("m", _shape(tree)).add(END, T.LongType()).add(_BAD, _TEXT)
    wrapped = F.concat(F.lit('{"m":'), text, F.lit(',"\\u0001":0}'))
    message = F.col("m")
    found = {path: _within(message["m"], path) for path, _ in wanted}
    values = tuple(_value(found[places[name]], kinds[name]) for name in extent.names)
    texts = [found[places[name]] for name in extent.names if kinds[name] is Type.STRING]
    sure = [message[_BAD].isNull(), message[END].isNotNull(), *map(_was_text, texts)]
    sure += [message["m"][path].isNull() for path, _ in wanted if "." in path]
    holds = reduce(lambda one, other: one & other, sure)
    tick = None if source.time is None else _tick(found[source.time], calendar)
    return Quick(F.from_json(wrapped, whole, _READ), tick, values, holds)


def _tree(wanted: list[tuple[str, T.DataType | None]]) -> _Tree | None:
    """The fields by the parts of their paths; None where a list is asked, or where two do not fit each other."""
    tree: _Tree = {}
    for path, kind in wanted:
        parts = path.split(".")
        if kind is None or any(part.isdecimal() or not part for part in parts):
            return None
        here = tree
        for part in parts[:-1]:
            deeper = here.setdefault(part, {})
            if not isinstance(deeper, dict):
                return None
            here = deeper
        if here.setdefault(parts[-1], kind) != kind:
            return None
        if len(parts) > 1 and tree.setdefault(path, T.VariantType()) != T.VariantType():
            return None
    return tree if all(len({name.lower() for name in level}) == len(level) for level in _levels(tree)) else None


def _levels(tree: _Tree) -> Iterator[_Tree]:
    yield tree
    for below in tree.values():
        if isinstance(below, dict):
            yield from _levels(below)


def _shape(tree: _Tree) -> T.StructType:
    fields = [T.StructField(name, _shape(one) if isinstance(one, dict) else one) for name, one in tree.items()]
    return T.StructType(fields)


def _within(message: Column, path: str) -> Column:
    return reduce(lambda here, part: here[part], path.split("."), message)


def _value(found: Column, kind: Type) -> Column:
    """A field as a value of its type, NULL where that is not certain."""
    match kind:
        case Type.FLOAT:
            return F.when(F.abs(found) < float("inf"), found + F.lit(0.0))
        case Type.TIMESTAMP:
            return plain_instant(found)
        case Type.DECIMAL:  # so few digits are the same as a number, which is a float, and as text
            return F.when(F.rlike(found, F.lit(_SHORT)), found.try_cast(DECIMAL))
        case _:
            return found


def _tick(found: Column, calendar: Calendar) -> Column:
    """The tick of an instant as most write it, or of a whole number, which may be text as well."""
    number = F.when(F.rlike(found, F.lit(_TICK)), found.try_cast("long"))
    return F.coalesce(tick_of_text(plain_instant(found), calendar), number)


def _was_text(found: Column) -> Column:
    """Whether a text that was read stood in quotes: numbers, truth values, lists and objects are read as text, too."""
    first = F.ascii(found)
    figure = first.between(_MINUS, _NINE)
    plain = ~figure & ~first.isin(*_OPENING) & ~found.isin("true", "false")
    return plain | (figure & found.try_cast("double").isNull())
