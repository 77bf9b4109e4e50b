"""Build Spark SQL expressions as text, with the operators of PySpark columns, and convert them to a column at once.

Each operation on a PySpark column takes several calls to the JVM, and a stack walk for error messages; an expression
over terms has hundreds of operations. Operators are written as function calls, which Spark's parser reads faster than
nested parentheses. Ambiguous strings are written as bytes, so that they do not depend on settings.
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

SqlOperand = object
"""An expression, or a Python value that becomes a constant."""


class Sql:
    """A Spark SQL expression as text, with an optional field name."""

    __slots__ = ("name", "text")

    def __init__(self, text: str, name: str = "") -> None:
        """Wrap the text of a Spark SQL expression; `name` is its field name in a struct, empty if it has none."""
        self.text = text
        self.name = name

    def __str__(self) -> str:
        """The SQL text of the expression."""
        return self.text

    def __eq__(self, other: SqlOperand) -> Sql:  # type: ignore[override]
        """Build the SQL expression `self = other`, which is NULL if an operand is NULL."""
        return _call("=", self, other)

    def __ne__(self, other: SqlOperand) -> Sql:  # type: ignore[override]
        """Build the SQL expression `NOT (self = other)`, which is NULL if an operand is NULL."""
        return _call("not", _call("=", self, other))

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self < other`, which is NULL if an operand is NULL."""
        return _call("<", self, other)

    def __le__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self <= other`, which is NULL if an operand is NULL."""
        return _call("<=", self, other)

    def __gt__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self > other`, which is NULL if an operand is NULL."""
        return _call(">", self, other)

    def __ge__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self >= other`, which is NULL if an operand is NULL."""
        return _call(">=", self, other)

    def __and__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self AND other`, with SQL's three truth values."""
        return _call("and", self, other)

    def __or__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self OR other`, with SQL's three truth values."""
        return _call("or", self, other)

    def __invert__(self) -> Sql:
        """Build the SQL expression `NOT self`, which is NULL if the operand is NULL."""
        return _call("not", self)

    def __add__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self + other`; the operand may be a Python constant."""
        return _call("+", self, other)

    def __sub__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self - other`; the operand may be a Python constant."""
        return _call("-", self, other)

    def __mul__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self * other`; the operand may be a Python constant."""
        return _call("*", self, other)

    def __truediv__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self / other`; the operand may be a Python constant."""
        return _call("/", self, other)

    def __mod__(self, other: SqlOperand) -> Sql:
        """Build the SQL expression `self % other`, whose sign is that of the dividend."""
        return _call("%", self, other)

    def __neg__(self) -> Sql:
        """Build the SQL expression `-self`."""
        return _call("negative", self)

    def __getitem__(self, field: str) -> Sql:
        """Build the SQL expression that reads a field of this struct expression."""
        return Sql(f"{self.text}.`{field}`")

    def isNull(self) -> Sql:  # noqa: N802 - as PySpark calls it
        """Build the SQL expression `self IS NULL`."""
        return _call("isnull", self)

    def isNotNull(self) -> Sql:  # noqa: N802 - as PySpark calls it
        """Build the SQL expression `self IS NOT NULL`."""
        return _call("isnotnull", self)

    def isin(self, *values: SqlOperand) -> Sql:
        """Build the SQL expression `self IN (...)`; the values are arguments or one list."""
        among = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return Sql(f"{self.text} IN ({', '.join(lit(value).text for value in among)})")

    def between(self, low: SqlOperand, high: SqlOperand) -> Sql:
        """Build the SQL expression that tests whether this value lies between two bounds, both inclusive."""
        return (self >= low) & (self <= high)

    def cast(self, sql_type: str) -> Sql:
        """Build a CAST of this expression to a Spark SQL type, such as `bigint`."""
        return Sql(f"CAST({self.text} AS {sql_type})")

    def try_cast(self, sql_type: str) -> Sql:
        """Build a TRY_CAST of this expression to a Spark SQL type; the result is NULL if the cast fails."""
        return Sql(f"TRY_CAST({self.text} AS {sql_type})")

    def alias(self, name: str) -> Sql:
        """Return the same expression with a field name, for use in a struct."""
        return Sql(self.text, name)


class SqlCase(Sql):
    """A CASE expression that takes more branches."""

    __slots__ = ()

    def when(self, condition: Sql, value: SqlOperand) -> SqlCase:
        """Return this CASE expression with one more WHEN branch."""
        return SqlCase(f"{self.text[:-4]} WHEN {condition.text} THEN {lit(value).text} END")

    def otherwise(self, value: SqlOperand) -> Sql:
        """Return this CASE expression, completed by an ELSE value."""
        return Sql(f"{self.text[:-4]} ELSE {lit(value).text} END")


def lit(value: SqlOperand) -> Sql:
    """Convert a Python value to an SQL constant; return expressions unchanged, raise TypeError for other values."""
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


def _call(name: str, *arguments: SqlOperand) -> Sql:
    """Build a call of a Spark SQL function or operator; Python values become SQL constants.

    The name is quoted with backticks.
    """
    return Sql(f"`{name}`({', '.join(lit(argument).text for argument in arguments)})")


def _lambda(body: Callable[..., Sql], arity: int) -> str:
    """Write the text of a Spark SQL lambda whose body is `body`, called with `arity` newly named variables."""
    names = [f"_t{next(_names)}" for _ in range(arity)]
    left = names[0] if arity == 1 else f"({', '.join(names)})"
    return f"{left} -> {body(*(Sql(name) for name in names)).text}"


class SqlFunctions:
    """Spark SQL functions by name; methods are defined only for those with a special syntax."""

    def __getattr__(self, name: str) -> Callable[..., Sql]:
        """Return the Spark SQL function of this name as a Python function of SQL expressions."""
        return lambda *arguments: _call(name, *arguments)

    def lit(self, value: SqlOperand) -> Sql:
        """Convert a Python value to an SQL constant; return expressions unchanged."""
        return lit(value)

    def when(self, condition: Sql, value: SqlOperand) -> SqlCase:
        """Begin a CASE expression with a WHEN branch; `otherwise` completes it."""
        return SqlCase(f"CASE WHEN {condition.text} THEN {lit(value).text} END")

    def struct(self, *fields: Sql) -> Sql:
        """Build a struct of SQL expressions, each of which has a field name."""
        return _call("named_struct", *(part for field in fields for part in (field.name, Sql(field.text))))

    def create_map(self, *parts: Sql) -> Sql:
        """Build a map from alternating keys and values."""
        return _call("map", *parts)

    def ltrim(self, text: Sql, characters: Sql) -> Sql:
        """Remove the leading characters of a string that are in `characters`."""
        return Sql(f"trim(LEADING {characters.text} FROM {text.text})")

    def rtrim(self, text: Sql, characters: Sql) -> Sql:
        """Remove the trailing characters of a string that are in `characters`."""
        return Sql(f"trim(TRAILING {characters.text} FROM {text.text})")

    def transform(self, array: Sql, body: Callable[[Sql], Sql]) -> Sql:
        """Build the array of the results of `body` for every element of an array."""
        return Sql(f"transform({array.text}, {_lambda(body, 1)})")

    def filter(self, array: Sql, body: Callable[[Sql], Sql]) -> Sql:
        """Keep the elements of an array for which `body` is true."""
        return Sql(f"`filter`({array.text}, {_lambda(body, 1)})")

    def zip_with(self, left: Sql, right: Sql, body: Callable[[Sql, Sql], Sql]) -> Sql:
        """Build the array of the results of `body` for the pairs of elements of two arrays."""
        return Sql(f"zip_with({left.text}, {right.text}, {_lambda(body, 2)})")

    def aggregate(self, array: Sql, start: Sql, step: Callable[[Sql, Sql], Sql], finish: Callable[[Sql], Sql]) -> Sql:
        """Fold an array with `step`, from the value `start` on, and apply `finish` to the result."""
        return Sql(f"aggregate({array.text}, {start.text}, {_lambda(step, 2)}, {_lambda(finish, 1)})")


F = SqlFunctions()


def let(columns: list[Sql], body: Callable[..., Sql]) -> Sql:
    """Bind each expression to a lambda variable, computed once however often `body` uses it, and apply `body`."""
    return _let(columns, body, lambda array, element_body: F.transform(array, element_body))


def let_interpreted(columns: list[Sql], body: Callable[..., Sql]) -> Sql:
    """Bind expressions to lambda variables and apply `body`, in SQL that Spark interprets, not compiles."""
    return _let(
        columns, body, lambda array, element_body: F.zip_with(array, F.array(0), lambda values, _: element_body(values))
    )


def _let(
    columns: Sequence[Sql], body: Callable[..., Sql], map_array: Callable[[Sql, Callable[[Sql], Sql]], Sql]
) -> Sql:
    """Apply `body` to lambda variables for `columns`; `map_array`: the array function that binds them (transform)."""
    fields = [column.alias(f"v{n}") for n, column in enumerate(columns)]
    return F.get(
        map_array(F.array(F.struct(*fields)), lambda values: body(*(values[field.name] for field in fields))), 0
    )


def _is_column_name(column: Column) -> bool:
    """Whether a PySpark column is just the name of a column, and not a constant that prints like a name."""
    classic = getattr(column, "_jc", None)
    if classic is not None:
        return str(classic.node().getClass().getSimpleName()) == "UnresolvedAttribute"
    return type(getattr(column, "_expr", None)).__name__ == "ColumnReference"


class SqlInputs:
    """The PySpark columns that an SQL expression reads, with the names under which its text refers to them."""

    def __init__(self) -> None:
        """Start without input columns; the method `name` adds the PySpark columns that an expression reads."""
        self.columns: dict[str, Column] = {}

    def name(self, column: Column) -> Sql:
        """Return SQL that refers to a PySpark column: its plain name, or else a field of the struct `_inputs`."""
        reference = _COLUMN.fullmatch(str(column))
        if reference and _is_column_name(column):
            return Sql(".".join(f"`{part}`" for part in reference[1].split(".")))
        name = next(
            (field_name for field_name, input_column in self.columns.items() if input_column is column),
            f"c{len(self.columns)}",
        )
        self.columns[name] = column
        return Sql(f"_inputs.{name}")

    def column(self, expression: Sql) -> Column:
        """Convert an SQL expression over these inputs to a PySpark column."""
        if not self.columns:
            return spark.expr(expression.text)
        inputs = spark.array(spark.struct(*(column.alias(name) for name, column in self.columns.items())))
        results = spark.call_function("transform", inputs, spark.expr(f"_inputs -> {expression.text}"))
        return spark.get(results, spark.lit(0))
