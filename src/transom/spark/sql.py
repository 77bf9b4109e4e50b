"""Expressions of Spark SQL as text, written as columns of PySpark are, and made a column all at once.

Every step of a column of PySpark is several calls to the JVM, with a walk through the stack for its error messages; an
expression over terms has hundreds of steps. Operators are written as functions, which Spark's parser reads faster than
brackets in brackets. Texts that could be read in two ways are written as their bytes, so that no setting matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count

from pyspark.sql import Column
from pyspark.sql import functions as spark

_PLAIN = re.compile(r"[ !#-&(-\[\]-~]*")
_COLUMN = re.compile(r"Column<'([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)'>")
_names = count()

Given = object
"""An expression, or a value of Python that is one as a constant."""


class Sql:
    """An expression as text."""

    __slots__ = ("name", "text")

    def __init__(self, text: str, name: str = "") -> None:
        self.text = text
        self.name = name

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: Given) -> Sql:  # type: ignore[override]
        return _call("=", self, other)

    def __ne__(self, other: Given) -> Sql:  # type: ignore[override]
        return _call("not", _call("=", self, other))

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Given) -> Sql:
        return _call("<", self, other)

    def __le__(self, other: Given) -> Sql:
        return _call("<=", self, other)

    def __gt__(self, other: Given) -> Sql:
        return _call(">", self, other)

    def __ge__(self, other: Given) -> Sql:
        return _call(">=", self, other)

    def __and__(self, other: Given) -> Sql:
        return _call("and", self, other)

    def __or__(self, other: Given) -> Sql:
        return _call("or", self, other)

    def __invert__(self) -> Sql:
        return _call("not", self)

    def __add__(self, other: Given) -> Sql:
        return _call("+", self, other)

    def __sub__(self, other: Given) -> Sql:
        return _call("-", self, other)

    def __mul__(self, other: Given) -> Sql:
        return _call("*", self, other)

    def __truediv__(self, other: Given) -> Sql:
        return _call("/", self, other)

    def __mod__(self, other: Given) -> Sql:
        return _call("%", self, other)

    def __neg__(self) -> Sql:
        return _call("negative", self)

    def __getitem__(self, field: str) -> Sql:
        return Sql(f"{self.text}.`{field}`")

    def isNull(self) -> Sql:  # noqa: N802 - as PySpark calls it
        """Whether it is NULL."""
        return _call("isnull", self)

    def isNotNull(self) -> Sql:  # noqa: N802 - as PySpark calls it
        """Whether it is not NULL."""
        return _call("isnotnull", self)

    def isin(self, *values: Given) -> Sql:
        """Whether it is one of some values."""
        among = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return Sql(f"{self.text} IN ({', '.join(lit(value).text for value in among)})")

    def between(self, low: Given, high: Given) -> Sql:
        """Whether it lies between two bounds, both included."""
        return (self >= low) & (self <= high)

    def cast(self, kind: str) -> Sql:
        """As a value of another type."""
        return Sql(f"CAST({self.text} AS {kind})")

    def try_cast(self, kind: str) -> Sql:
        """As a value of another type, NULL where there is none."""
        return Sql(f"TRY_CAST({self.text} AS {kind})")

    def alias(self, name: str) -> Sql:
        """With a name as a field of a struct."""
        return Sql(self.text, name)


class Case(Sql):
    """A choice that is still open to more branches."""

    __slots__ = ()

    def when(self, condition: Sql, value: Given) -> Case:
        """One more branch."""
        return Case(f"{self.text[:-4]} WHEN {condition.text} THEN {lit(value).text} END")

    def otherwise(self, value: Given) -> Sql:
        """What holds where no condition is true."""
        return Sql(f"{self.text[:-4]} ELSE {lit(value).text} END")


def lit(value: Given) -> Sql:
    """A constant; an expression is itself."""
    match value:
        case Sql():
            return value
        case None:
            return Sql("NULL")
        case bool():
            return Sql("TRUE" if value else "FALSE")
        case int():
            return Sql(f"{value}" if abs(value) < 2**31 else f"{value}L")
        case float():
            return Sql(f"CAST('{value!r}' AS DOUBLE)")
        case str():
            plain = _PLAIN.fullmatch(value)
            return Sql(f"'{value}'" if plain else f"CAST(X'{value.encode().hex()}' AS STRING)")
        case _:
            raise TypeError(f"no constant: {value!r}")


def _call(name: str, *arguments: Given) -> Sql:
    return Sql(f"`{name}`({', '.join(lit(argument).text for argument in arguments)})")


def _bind(body: Callable[..., Sql], arity: int) -> str:
    names = [f"_t{next(_names)}" for _ in range(arity)]
    left = names[0] if arity == 1 else f"({', '.join(names)})"
    return f"{left} -> {body(*(Sql(name) for name in names)).text}"


class Functions:
    """The functions of Spark SQL by their names; those that the language writes in its own way are here."""

    def __getattr__(self, name: str) -> Callable[..., Sql]:
        return lambda *arguments: _call(name, *arguments)

    def lit(self, value: Given) -> Sql:
        """A constant."""
        return lit(value)

    def when(self, condition: Sql, value: Given) -> Case:
        """A choice."""
        return Case(f"CASE WHEN {condition.text} THEN {lit(value).text} END")

    def struct(self, *fields: Sql) -> Sql:
        """A struct of named fields."""
        return _call("named_struct", *(part for field in fields for part in (field.name, Sql(field.text))))

    def create_map(self, *parts: Sql) -> Sql:
        """A map of keys and values in turn."""
        return _call("map", *parts)

    def ltrim(self, text: Sql, signs: Sql) -> Sql:
        """Without some signs at its beginning."""
        return Sql(f"trim(LEADING {signs.text} FROM {text.text})")

    def rtrim(self, text: Sql, signs: Sql) -> Sql:
        """Without some signs at its end."""
        return Sql(f"trim(TRAILING {signs.text} FROM {text.text})")

    def transform(self, array: Sql, body: Callable[[Sql], Sql]) -> Sql:
        """What `body` makes of every element."""
        return Sql(f"transform({array.text}, {_bind(body, 1)})")

    def filter(self, array: Sql, body: Callable[[Sql], Sql]) -> Sql:
        """The elements of which `body` is true."""
        return Sql(f"`filter`({array.text}, {_bind(body, 1)})")

    def zip_with(self, one: Sql, other: Sql, body: Callable[[Sql, Sql], Sql]) -> Sql:
        """What `body` makes of every two elements."""
        return Sql(f"zip_with({one.text}, {other.text}, {_bind(body, 2)})")

    def aggregate(self, array: Sql, start: Sql, step: Callable[[Sql, Sql], Sql], finish: Callable[[Sql], Sql]) -> Sql:
        """What `step` makes of all elements, one after the other."""
        return Sql(f"aggregate({array.text}, {start.text}, {_bind(step, 2)}, {_bind(finish, 1)})")


F = Functions()


def let(columns: list[Sql], body: Callable[..., Sql]) -> Sql:
    """What `body` makes of expressions that it names more than once; what is only a name needs no other."""
    return _let(columns, body, lambda bound, own: F.transform(bound, own))


def aside(columns: list[Sql], body: Callable[..., Sql]) -> Sql:
    """The same for a body that is large and rarely run: Spark interprets it."""
    return _let(columns, body, lambda bound, own: F.zip_with(bound, F.array(0), lambda values, _: own(values)))


def _let(columns: Sequence[Sql], body: Callable[..., Sql], run: Callable[[Sql, Callable[[Sql], Sql]], Sql]) -> Sql:
    fields = [column.alias(f"v{place}") for place, column in enumerate(columns)]
    return F.get(run(F.array(F.struct(*fields)), lambda own: body(*(own[field.name] for field in fields))), 0)


def _is_name(column: Column) -> bool:
    """Whether a column is only a name; a constant looks like one."""
    classic = getattr(column, "_jc", None)
    if classic is not None:
        return str(classic.node().getClass().getSimpleName()) == "UnresolvedAttribute"
    return type(getattr(column, "_expr", None)).__name__ == "ColumnReference"


class Inputs:
    """The columns of PySpark that an expression reads, each under a name that its text can use."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}

    def name(self, column: Column) -> Sql:
        """How the text names a column: as the frame does where that is known, else as a field of what is handed in."""
        known = _COLUMN.fullmatch(str(column))
        if known and _is_name(column):
            return Sql(".".join(f"`{part}`" for part in known[1].split(".")))
        name = next((own for own, given in self.columns.items() if given is column), f"c{len(self.columns)}")
        self.columns[name] = column
        return Sql(f"_given.{name}")

    def column(self, expression: Sql) -> Column:
        """The column of an expression over these inputs."""
        if not self.columns:
            return spark.expr(expression.text)
        given = spark.array(spark.struct(*(column.alias(name) for name, column in self.columns.items())))
        made = spark.call_function("transform", given, spark.expr(f"_given -> {expression.text}"))
        return spark.get(made, spark.lit(0))
