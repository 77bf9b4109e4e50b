"""Lowerings of scalar functions: each maps a call and the columns of its arguments to a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Call, Case, Cast, Expression, InRegion, size
from transom.model.types import INTEGER_MIN, Type
from transom.spark.expressions.rounding import clamp, round_number
from transom.spark.expressions.types import (
    DECIMAL,
    finite_or_null,
    let,
    timestamp_from_micros,
)

Lowering = Callable[[Call, list[Column]], Column]

_MAX_LENGTH = 2**30
"""An upper bound for the length of strings, at which positions and lengths are clamped."""

_MAX_UNBOUND_POINT = 5
"""Up to this expression size, a POINT call is repeated rather than bound: it consists of columns."""

_DAY, _HOUR, _MINUTE, _SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000


def _ignoring_types(function: Callable[..., Column]) -> Lowering:
    """Wrap a Spark function as the translation of a call; it gets the argument columns, but not their types."""
    return lambda call, arguments: function(*arguments)


def bind_once(expressions: Sequence[Expression], columns: Sequence[Column], body: Callable[..., Column]) -> Column:
    """Apply `body` to columns that it may repeat; bind those of long expressions to lambda variables first."""
    long_positions = [n for n, column in enumerate(expressions) if _needs_binding(column)]
    if not long_positions:
        return body(*columns)

    def apply(*variables: Column) -> Column:
        """Call the enclosing `body` with its columns, the long ones replaced by the lambda `variables`."""
        bound = dict(zip(long_positions, variables, strict=True))
        return body(*(bound.get(n, column) for n, column in enumerate(columns)))

    return let([columns[n] for n in long_positions], apply)


def _needs_binding(expression: Expression) -> bool:
    """Whether an expression is too long to repeat its column, which is then bound to a lambda variable."""
    if isinstance(expression, Call) and expression.function.name == "POINT":
        return size(expression) > _MAX_UNBOUND_POINT
    return isinstance(expression, Call | Case | Cast | InRegion)


def _argument_type(call: Call) -> Type:
    """The type of the first argument of a call."""
    return call.arguments[0].type


def in_long_range(number: Column, result: Column) -> Column:
    """Return `result` in rows in which the float `number` fits into a 64-bit integer, and NULL in others."""
    return F.when((number >= F.lit(-(2.0**63))) & (number < F.lit(2.0**63)), result)


def fixed_sum(number: Column) -> Column:
    """Protect a sum or product of integers from Spark's optimizer, which could reorder it and change its overflows.

    ReorderAssociativeOperator folds `(1 + n) + -1` to `n`, and equal operands in another order count as the same
    expression. Both look through nested additions or multiplications, and stop at any other operator.
    """
    return number.bitwiseOR(F.lit(0).cast("bigint"))


def fixed_case(function: Callable[[Column], Column]) -> Callable[[Column], Column]:
    """Wrap UPPER or LOWER so that Spark's optimizer cannot turn LOWER(UPPER('straße')) into LOWER('straße')."""
    return lambda text: F.concat(function(text), F.lit(""))


def _narrow_decimal(number: Column) -> Column:
    """Return a decimal if it has at most 19 digits before the point, otherwise NULL; two such decimals add exactly."""
    return number.try_cast("decimal(37,18)")


def _add(call: Call, arguments: list[Column]) -> Column:
    """Compute `+` of floats, decimals or integers; NULL on overflow."""
    left, right = arguments
    match _argument_type(call):
        case Type.FLOAT:
            return finite_or_null(left + right)
        case Type.DECIMAL:
            return _narrow_decimal(_narrow_decimal(left) + _narrow_decimal(right)).cast(DECIMAL)
        case _:
            return fixed_sum(F.try_add(left, right))


def _subtract(call: Call, arguments: list[Column]) -> Column:
    """Compute `-` of numbers, or of timestamps as a difference in seconds; NULL on overflow."""
    left, right = arguments
    match _argument_type(call):
        case Type.FLOAT:
            return finite_or_null(left - right)
        case Type.DECIMAL:
            return _narrow_decimal(_narrow_decimal(left) - _narrow_decimal(right)).cast(DECIMAL)
        case Type.TIMESTAMP:
            # casting a decimal to a float rounds once; dividing floats would round twice
            micros = F.unix_micros(left) - F.unix_micros(right)
            return (micros.cast("decimal(20,0)") * F.lit("0.000001").cast("decimal(6,6)")).cast("double")
        case _:
            return F.try_subtract(left, right)


def _multiply(call: Call, arguments: list[Column]) -> Column:
    """Compute `*` of floats, decimals or integers; NULL on overflow."""
    left, right = arguments
    match _argument_type(call):
        case Type.FLOAT:
            return finite_or_null(left * right)
        case Type.DECIMAL:
            return _product(left, right)
        case _:
            return fixed_sum(F.try_multiply(left, right))


def _product(left: Column, right: Column) -> Column:
    """Multiply two decimals to 18 places, by their integer and fractional parts; NULL on overflow."""

    def integer_and_fraction(number: Column) -> tuple[Column, Column]:
        """The integer part and the fraction of a decimal, both with the decimal's sign."""
        integer = F.when(number < 0, F.ceil(number)).otherwise(F.floor(number))
        return integer.try_cast("decimal(19,0)"), (number % F.lit(1).cast("decimal(1,0)")).cast("decimal(18,18)")

    (left_whole, left_part), (right_whole, right_part) = integer_and_fraction(left), integer_and_fraction(right)
    products = [left_whole * right_whole, left_whole * right_part, left_part * right_whole, left_part * right_part]
    return reduce(
        lambda total, product: _narrow_decimal(total + _narrow_decimal(product)),
        products[1:],
        _narrow_decimal(products[0]),
    ).cast(DECIMAL)


def _quotient(left: Column, right: Column) -> Column:
    """Compute DIV: the quotient, truncated to an integer; NULL for division by 0 and on overflow."""
    return F.when(right == -1, F.try_subtract(F.lit(0).cast("bigint"), left)).when(
        right != 0, F.call_function("div", left, right)
    )


def _negative(call: Call, arguments: list[Column]) -> Column:
    """Compute unary minus; NULL on overflow."""
    (number,) = arguments
    match _argument_type(call):
        case Type.FLOAT:
            return F.lit(0.0) - number
        case Type.DECIMAL:
            return _negated_decimal(number)
        case _:
            return F.try_subtract(F.lit(0).cast("bigint"), number)


def _negated_decimal(number: Column) -> Column:
    """Negate a decimal without losing digits; Spark's own `negative` and `abs` round to 34 digits."""
    return F.coalesce(_narrow_decimal(F.lit(0)) - _narrow_decimal(number), F.negative(number))


def _absolute(call: Call, arguments: list[Column]) -> Column:
    """Compute ABS; NULL on overflow."""
    (number,) = arguments
    match _argument_type(call):
        case Type.INTEGER:
            return F.when(number != INTEGER_MIN, F.abs(number))
        case Type.DECIMAL:
            return F.when(number < 0, _negated_decimal(number)).otherwise(number)
        case _:
            return F.abs(number)


def _to_whole(function: Callable[[Column], Column]) -> Lowering:
    """Build the translation of FLOOR or CEIL from the Spark function, with an integer result, NULL beyond 64 bits."""

    def lowered(call: Call, arguments: list[Column]) -> Column:
        """Compute FLOOR or CEIL as a 64-bit integer, NULL if it does not fit; integers are unchanged."""
        (number,) = arguments
        match _argument_type(call):
            case Type.FLOAT:
                return in_long_range(number, function(number))
            case Type.DECIMAL:
                return function(number).try_cast("bigint")
            case _:
                return number

    return lowered


_ONE_GAP = r"\A(?s:[^%]*%?[^%]*|%[^%]*%)\z"
"""LIKE patterns that Spark matches in at most quadratic time."""


def _like(text: Column, pattern: Column) -> Column:
    """Whether a string matches a LIKE pattern; a pattern with several % becomes a regular expression.

    The regular expression needs little backtracking.
    """
    has_one_gap = pattern.rlike(_ONE_GAP)
    plain_match = F.like(text, F.when(has_one_gap, F.replace(pattern, F.lit("\\"), F.lit("\\\\"))))
    pieces = F.split(F.regexp_replace(pattern, "([^0-9A-Za-z_%])", "\\\\$1"), "%+")
    inner = F.slice(pieces, F.lit(2), F.greatest(F.size(pieces) - 2, F.lit(0)))
    between = F.transform(inner, lambda piece: F.concat(F.lit("(?>.*?"), piece, F.lit(")")))
    first, last = F.element_at(pieces, 1), F.element_at(pieces, -1)
    pattern_regex = F.concat(F.lit("(?s)\\A"), first, F.array_join(between, ""), F.lit(".*"), last, F.lit("\\z"))
    regular_match = F.rlike(text, F.replace(pattern_regex, F.lit("_"), F.lit(".")))
    return F.when(has_one_gap, plain_match).otherwise(regular_match)  # Spark evaluates constants in both branches


def _one_or_more(function: Callable[..., Column]) -> Lowering:
    """Build the translation of GREATEST or LEAST, whose Spark functions need at least two arguments.

    A single argument is returned as is.
    """
    return lambda call, arguments: function(*arguments) if len(arguments) > 1 else arguments[0]


def _clamp_length(number: Column) -> Column:
    """Clamp the length argument of LEFT or RIGHT to the range from 0 to 2^30."""
    return clamp(number, 0, _MAX_LENGTH)


def _substring(text: Column, start: Column, length: Column | None = None) -> Column:
    """Compute SUBSTRING from character `start` (the first is 1) on; NULL if `length` is negative.

    Without `length`, the result goes to the end of the string.
    """
    first = clamp(start, 1, _MAX_LENGTH)
    if length is None:
        return F.substring(text, first, F.lit(_MAX_LENGTH))
    end = F.coalesce(F.try_add(start, length), F.lit(_MAX_LENGTH))
    return F.when(length >= 0, F.substring(text, first, F.greatest(clamp(end, 1, _MAX_LENGTH) - first, F.lit(0))))


def _right(text: Column, count: Column) -> Column:
    """Compute RIGHT: the last `count` characters of a string."""
    begin = F.greatest(F.char_length(text) - _clamp_length(count), F.lit(0)) + 1
    return F.substring(text, begin, _clamp_length(count))


def _instant(tick: Column, length: Column, epoch: Column) -> Column:
    """Compute INSTANT: when a tick begins, if ticks last `length` microseconds from `epoch`; NULL outside years 1-9999.

    Ticks have `length` microseconds; tick 0 begins at `epoch`.
    """
    return timestamp_from_micros(F.try_add(F.unix_micros(epoch), F.try_multiply(tick, length)))


def _tick(moment: Column, length: Column, epoch: Column) -> Column:
    """Compute TICK: the number of the tick with `moment`; tick 0 begins at `epoch`, ticks last `length` microseconds.

    Ticks have `length` microseconds; tick 0 begins at `epoch`.
    """
    passed = (F.unix_micros(moment) - F.unix_micros(epoch)) * F.signum(length).cast("bigint")
    size = F.when(length != 0, F.abs(length))
    return F.call_function("div", passed - F.pmod(passed, size), size)


def _date_part(part: Callable[[Column], Column]) -> Lowering:
    """Build the translation of YEAR, MONTH or DAY from the Spark function `part`, in UTC in every session."""

    def lowered(moment: Column) -> Column:
        """Build the year, month or day, which the outer function `part` extracts, of the UTC date of a timestamp."""
        micros = F.unix_micros(moment)
        days = F.call_function("div", micros - F.pmod(micros, F.lit(_DAY)), F.lit(_DAY))
        return part(F.date_from_unix_date(days.cast("int"))).cast("bigint")

    return _ignoring_types(lowered)


def _time_part(unit: int, count: int) -> Lowering:
    """Build the translation of HOUR, MINUTE or SECOND in UTC: microseconds divided by `unit`, modulo `count`."""

    def lowered(moment: Column) -> Column:
        """Return one part of a timestamp in UTC (hour, minute or second, as chosen) as an integer."""
        return F.call_function("div", F.pmod(F.unix_micros(moment), F.lit(unit * count)), F.lit(unit).cast("bigint"))

    return _ignoring_types(lowered)


LOWERINGS: dict[str, Lowering] = {
    "AND": _ignoring_types(lambda *parts: reduce(and_, parts)),
    "OR": _ignoring_types(lambda *parts: reduce(or_, parts)),
    "NOT": _ignoring_types(lambda value: ~value),
    "IS NULL": _ignoring_types(lambda value: value.isNull()),
    "=": _ignoring_types(lambda left, right: left == right),
    "<>": _ignoring_types(lambda left, right: left != right),
    "<": _ignoring_types(lambda left, right: left < right),
    "<=": _ignoring_types(lambda left, right: left <= right),
    ">": _ignoring_types(lambda left, right: left > right),
    ">=": _ignoring_types(lambda left, right: left >= right),
    "IN": _ignoring_types(lambda needle, *options: needle.isin(list(options))),
    "LIKE": _ignoring_types(_like),
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _ignoring_types(lambda left, right: finite_or_null(F.try_divide(left, right))),
    "%": _ignoring_types(F.try_mod),
    "NEG": _negative,
    "ABS": _absolute,
    "SIGN": _ignoring_types(lambda number: F.signum(number).cast("bigint")),
    "FLOOR": _to_whole(F.floor),
    "CEIL": _to_whole(F.ceil),
    "ROUND": round_number,
    "DIV": _ignoring_types(_quotient),
    "SQRT": _ignoring_types(lambda number: finite_or_null(F.sqrt(number))),
    "POWER": _ignoring_types(lambda number, exponent: finite_or_null(F.pow(number, exponent))),
    "EXP": _ignoring_types(lambda number: finite_or_null(F.exp(number))),
    "LN": _ignoring_types(lambda number: finite_or_null(F.ln(number))),
    "LOG10": _ignoring_types(lambda number: finite_or_null(F.log10(number))),
    "GREATEST": _one_or_more(F.greatest),
    "LEAST": _one_or_more(F.least),
    "COALESCE": _ignoring_types(F.coalesce),
    "NULLIF": _ignoring_types(lambda left, right: F.when(F.coalesce(left != right, F.lit(True)), left)),
    "||": _ignoring_types(F.concat),
    "CONCAT": _ignoring_types(F.concat),
    "UPPER": _ignoring_types(fixed_case(F.upper)),
    "LOWER": _ignoring_types(fixed_case(F.lower)),
    "LENGTH": _ignoring_types(lambda text: F.char_length(text).cast("bigint")),
    "TRIM": _ignoring_types(F.trim),
    "LTRIM": _ignoring_types(F.ltrim),
    "RTRIM": _ignoring_types(F.rtrim),
    "SUBSTRING": _ignoring_types(_substring),
    "LEFT": _ignoring_types(lambda text, count: F.substring(text, F.lit(1), _clamp_length(count))),
    "RIGHT": _ignoring_types(_right),
    "REPLACE": _ignoring_types(F.replace),
    "POSITION": _ignoring_types(lambda text, part: F.position(part, text).cast("bigint")),
    "STARTS_WITH": _ignoring_types(F.startswith),
    "ENDS_WITH": _ignoring_types(F.endswith),
    "INSTANT": _ignoring_types(_instant),
    "TICK": _ignoring_types(_tick),
    "YEAR": _date_part(F.year),
    "MONTH": _date_part(F.month),
    "DAY": _date_part(F.day),
    "HOUR": _time_part(_HOUR, 24),
    "MINUTE": _time_part(_MINUTE, 60),
    "SECOND": _time_part(_SECOND, 60),
}
"""Lowerings by function name; a test checks that every function has one."""

REPEATING = {"DIV", "ABS", "FLOOR", "CEIL", "ROUND", "NULLIF", "SUBSTRING", "LEFT", "RIGHT", "INSTANT", "TICK"}
"""Functions whose lowering uses an argument more than once; `*` does so for decimals."""
