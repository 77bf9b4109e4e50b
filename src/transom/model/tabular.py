"""Convert answers to tables of pyarrow, pandas and polars, which are imported when a conversion is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from transom.errors import UsageError
from transom.model.rdf.terms import IRI, Term
from transom.model.rdf.terms import Literal as RdfLiteral
from transom.model.time import MICROSECOND, Calendar
from transom.model.types import INTEGER_MAX, INTEGER_MIN, Type, is_value_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Terms: TypeAlias = Literal["ntriples", "value"]
"""How a table writes RDF terms: in N-Triples, or without quotes, angle brackets, datatype and language."""

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DECIMALS = ((38, 18), (76, 38))
"""Precision and scale of decimal columns: the first that holds all values of the column."""


def to_arrow(
    schema: Sequence[tuple[str, Type]],
    records: Iterable[Sequence[Any]],
    calendar: Calendar | None,
    instants: bool | None,
    terms: Terms = "ntriples",
) -> pyarrow.Table:
    """Build a pyarrow table; times are timestamps if `instants` (None: if there is an epoch); `terms`: RDF notation."""
    arrow = _import("pyarrow", "pyarrow")
    if terms not in get_args(Terms):
        raise UsageError(f"terms cannot be written as {terms!r}", hint="write 'ntriples' or 'value'")
    if instants and calendar is None:
        raise UsageError("the length of a tick is not known", hint="leave out `instants`")
    clock = calendar if instants or (instants is None and calendar is not None and calendar.has_epoch) else None
    rows = list(records)
    arrays = [
        _array(arrow, name, kind, [row[number] for row in rows], clock, terms)
        for number, (name, kind) in enumerate(schema)
    ]
    return arrow.Table.from_arrays(arrays, names=[name for name, _ in schema])


def to_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """The pandas DataFrame of a pyarrow table; integers and booleans have nullable types, so that NULL stays NULL."""
    frames, arrow = _import("pandas", "pandas"), import_module("pyarrow")
    nullable = {arrow.int64(): frames.Int64Dtype(), arrow.bool_(): frames.BooleanDtype()}
    return table.to_pandas(types_mapper=nullable.get)


def to_polars(table: pyarrow.Table) -> polars.DataFrame:
    """The polars DataFrame of a pyarrow table."""
    frames = _import("polars", "polars")
    wide = [field.name for field in table.schema if str(field.type).startswith("decimal256")]
    if wide:
        raise UsageError(
            f"column {wide[0]} holds decimals with more digits than polars allows",
            hint="use to_arrow() or to_pandas(), or CAST the column to float or string in the query",
        )
    frame: polars.DataFrame = frames.DataFrame(table)
    return frame


def _import(module: str, package: str) -> Any:
    """Import an optional module; raise UsageError, which names the pip `package`, if it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(
            f"this conversion needs {package}, which is not installed",
            hint=f"pip install {package}",
            detail=str(error),
        ) from error


def _array(arrow: Any, name: str, kind: Type, values: list[Any], clock: Calendar | None, terms: Terms) -> pyarrow.Array:
    """Build the array of column `name`; ticks become timestamps by `clock` (None: stay); `terms`: RDF notation."""
    match kind:
        case Type.TIME if clock is not None:
            return _instants(arrow, name, values, clock)
        case Type.DECIMAL:
            return _decimals(arrow, name, values)
        case Type.TIMESTAMP:
            return arrow.array(values, arrow.timestamp("us", tz="UTC"))
        case Type.POINT | Type.LINE:
            return arrow.array(_texts(values, str), arrow.string())
        case Type.TERM:
            return arrow.array(_texts(values, str if terms == "ntriples" else _term_value), arrow.string())
        case Type.INTEGER | Type.TIME:
            return arrow.array(values, arrow.int64())
        case Type.FLOAT:
            return arrow.array(values, arrow.float64())
        case Type.BOOLEAN:
            return arrow.array(values, arrow.bool_())
        case Type.STRING:
            return arrow.array(values, arrow.string())
        case Type.NULL:
            return arrow.nulls(len(values))


def _instants(arrow: Any, name: str, ticks: list[int | None], clock: Calendar) -> pyarrow.Array:
    """The instants at which ticks begin, as timestamps in UTC; UsageError beyond the range of 64 bits."""
    first = (clock.epoch - _UNIX_EPOCH) // MICROSECOND
    micros = [None if tick is None else first + tick * clock.length for tick in ticks]
    outside = [tick for tick, micro in zip(ticks, micros) if micro is not None and not _fits(micro)]
    if outside:
        raise UsageError(f"column {name}: tick {outside[0]} is no instant", hint="write instants=False")
    return arrow.array(micros, arrow.timestamp("us", tz="UTC"))


def _fits(number: int) -> bool:
    """Whether an integer has at most 64 bits."""
    return INTEGER_MIN <= number <= INTEGER_MAX


def _decimals(arrow: Any, name: str, values: list[Decimal | None]) -> pyarrow.Array:
    """Decimals as decimal(38, 18), or as decimal(76, 38) if one has more digits; UsageError if that is too narrow."""
    for precision, scale in _DECIMALS:
        kind = arrow.decimal128(precision, scale) if precision <= 38 else arrow.decimal256(precision, scale)
        try:
            return arrow.array(values, kind)
        except arrow.ArrowInvalid:
            continue
    longest = max((value for value in values if value is not None), key=abs)
    raise UsageError(
        f"column {name}: {longest} has too many digits for a decimal column",
        hint="CAST the column to float or string in the query",
    )


def _texts(values: list[Any], text: Callable[[Any], str]) -> list[str | None]:
    """The values as texts; NULL stays NULL."""
    return [None if value is None else text(value) for value in values]


def _term_value(term: Term) -> str:
    """The text of an RDF term without markup: the IRI, the lexical form of a literal, or `_:label`."""
    match term:
        case IRI(value=value):
            return value
        case RdfLiteral(lexical=lexical):
            return lexical
        case _:
            return str(term)


def infer_types(rows: Iterable[Sequence[Any]], width: int) -> tuple[Type, ...]:
    """Infer the types of `width` columns, each from its first value that is not NULL; type NULL for one without any."""
    kinds = [Type.NULL] * width
    for row in rows:
        for number, value in enumerate(row):
            if value is not None and kinds[number] is Type.NULL:
                kinds[number] = next(kind for kind in Type if is_value_of(value, kind))
    return tuple(kinds)
