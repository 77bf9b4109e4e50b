"""What every scalar function is on Spark: a function of the call and of the columns of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions import Call, Case, Cast, Expression, InRegion, Literal, size
from transom.model.types import INTEGER_MIN, Type
from transom.spark.floats import LIMIT, digits
from transom.spark.types import DECIMAL, PRECISION, SCALE, aside, finite, instant, let, nothing

Lowering = Callable[[Call, list[Column]], Column]

_SHORT = 2**30
"""No string is longer than this, so positions and lengths are cut off there."""

_SHORT_POINT = 5
"""Up to this size, a place is named as often as one likes: it is made of columns."""

_DAY, _HOUR, _MINUTE, _SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000


def _plain(function: Callable[..., Column]) -> Lowering:
    """A function that treats all types alike."""
    return lambda call, arguments: function(*arguments)


def bound(expressions: Sequence[Expression], columns: Sequence[Column], body: Callable[..., Column]) -> Column:
    """What `body` makes of the columns of expressions, each of which it names often: what is long is bound first."""
    long = [place for place, own in enumerate(expressions) if _long(own)]
    if not long:
        return body(*columns)

    def named(*names: Column) -> Column:
        chosen = dict(zip(long, names, strict=True))
        return body(*(chosen.get(place, own) for place, own in enumerate(columns)))

    return let([columns[place] for place in long], named)


def _long(expression: Expression) -> bool:
    if isinstance(expression, Call) and expression.function.name == "POINT":
        return size(expression) > _SHORT_POINT
    return isinstance(expression, Call | Case | Cast | InRegion)


def _kind(call: Call) -> Type:
    return call.arguments[0].type


def whole(number: Column, result: Column) -> Column:
    """A whole number made from a float, NULL where 64 bits do not hold it."""
    return F.when((number >= F.lit(-(2.0**63))) & (number < F.lit(2.0**63)), result)


def fixed_sum(number: Column) -> Column:
    """A sum or product of integers that Spark's optimizer does not reorder: another order overflows elsewhere.

    ReorderAssociativeOperator folds `(1 + n) + -1` to `n`, and equal operands in another order count as the same
    expression. Both look through nested additions or multiplications, and stop at any other operator.
    """
    return number.bitwiseOR(F.lit(0).cast("bigint"))


def fixed_case(function: Callable[[Column], Column]) -> Callable[[Column], Column]:
    """UPPER or LOWER, kept by Spark's optimizer: it makes LOWER(UPPER('straße')) into LOWER('straße')."""
    return lambda text: F.concat(function(text), F.lit(""))


def _narrow(number: Column) -> Column:
    """A decimal with at most 19 digits before the point: two of these can be added without a loss."""
    return number.try_cast("decimal(37,18)")


def _add(call: Call, arguments: list[Column]) -> Column:
    left, right = arguments
    match _kind(call):
        case Type.FLOAT:
            return finite(left + right)
        case Type.DECIMAL:
            return _narrow(_narrow(left) + _narrow(right)).cast(DECIMAL)
        case _:
            return fixed_sum(F.try_add(left, right))


def _subtract(call: Call, arguments: list[Column]) -> Column:
    left, right = arguments
    match _kind(call):
        case Type.FLOAT:
            return finite(left - right)
        case Type.DECIMAL:
            return _narrow(_narrow(left) - _narrow(right)).cast(DECIMAL)
        case Type.TIMESTAMP:
            # a decimal becomes the nearest float in one step; a division of floats would round twice
            micros = F.unix_micros(left) - F.unix_micros(right)
            return (micros.cast("decimal(20,0)") * F.lit("0.000001").cast("decimal(6,6)")).cast("double")
        case _:
            return F.try_subtract(left, right)


def _multiply(call: Call, arguments: list[Column]) -> Column:
    left, right = arguments
    match _kind(call):
        case Type.FLOAT:
            return finite(left * right)
        case Type.DECIMAL:
            return _product(left, right)
        case _:
            return fixed_sum(F.try_multiply(left, right))


def _product(left: Column, right: Column) -> Column:
    """The product of decimals from those of their parts before and behind the point, each exact on Spark."""

    def cut(number: Column) -> tuple[Column, Column]:
        before = F.when(number < 0, F.ceil(number)).otherwise(F.floor(number))
        return before.try_cast("decimal(19,0)"), (number % F.lit(1).cast("decimal(1,0)")).cast("decimal(18,18)")

    (left_whole, left_part), (right_whole, right_part) = cut(left), cut(right)
    products = [left_whole * right_whole, left_whole * right_part, left_part * right_whole, left_part * right_part]
    return reduce(lambda total, product: _narrow(total + _narrow(product)), products[1:], _narrow(products[0])).cast(
        DECIMAL
    )


def _quotient(left: Column, right: Column) -> Column:
    return F.when(right == -1, F.try_subtract(F.lit(0).cast("bigint"), left)).when(
        right != 0, F.call_function("div", left, right)
    )


def _negative(call: Call, arguments: list[Column]) -> Column:
    (number,) = arguments
    match _kind(call):
        case Type.FLOAT:
            return F.lit(0.0) - number
        case Type.DECIMAL:
            return _opposite(number)
        case _:
            return F.try_subtract(F.lit(0).cast("bigint"), number)


def _opposite(number: Column) -> Column:
    """A decimal with the other sign; Spark's own `negative` and `abs` round to 34 digits."""
    return F.coalesce(_narrow(F.lit(0)) - _narrow(number), F.negative(number))


def _absolute(call: Call, arguments: list[Column]) -> Column:
    (number,) = arguments
    match _kind(call):
        case Type.INTEGER:
            return F.when(number != INTEGER_MIN, F.abs(number))
        case Type.DECIMAL:
            return F.when(number < 0, _opposite(number)).otherwise(number)
        case _:
            return F.abs(number)


def _to_whole(function: Callable[[Column], Column]) -> Lowering:
    def lowered(call: Call, arguments: list[Column]) -> Column:
        (number,) = arguments
        match _kind(call):
            case Type.FLOAT:
                return whole(number, function(number))
            case Type.DECIMAL:
                return function(number).try_cast("bigint")
            case _:
                return number

    return lowered


def _round(call: Call, arguments: list[Column]) -> Column:
    is_decimal = _kind(call) is Type.DECIMAL
    to, anywhere = (_round_decimal, _round_decimal_anywhere) if is_decimal else (_round_to, _round_anywhere)
    number = arguments[0] if is_decimal else arguments[0].cast("double")
    if len(arguments) == 1:
        return to(number, 0)
    places = call.arguments[1]
    if isinstance(places, Literal):
        return to(number, places.value) if isinstance(places.value, int) else nothing(call.type)
    return anywhere(number, arguments[1])


def _round_decimal(number: Column, places: int) -> Column:
    """A decimal rounded to a fixed number of places; NULL beyond the digits of Spark's decimals."""
    if places >= SCALE:
        return number
    if places < SCALE - PRECISION:
        return F.when(number.isNotNull(), F.lit(0).cast(DECIMAL))
    return F.round(number, places).try_cast(DECIMAL)


def _round_decimal_anywhere(number: Column, places: Column) -> Column:
    """A decimal rounded to a number of places that each row says: Spark rounds to constant places only."""
    least, most = SCALE - PRECISION - 1, SCALE

    def chosen(own: Column, count: Column) -> Column:
        cases = F.when(count == least, _round_decimal(own, least))
        for at in range(least + 1, most + 1):
            cases = cases.when(count == at, _round_decimal(own, at))
        return cases

    return aside([number, _clamp(places, least, most)], chosen)


def _round_to(number: Column, places: int) -> Column:
    """Rounded to a fixed number of places."""
    if places > 330:
        return number
    if places < -310:
        return F.when(number.isNotNull(), F.lit(0.0))
    if places >= 0:
        return finite(F.round(number, places))
    return _round_anywhere(number, F.lit(places))


def _round_anywhere(number: Column, places: Column) -> Column:
    """Rounded to a number of places that each row says: on the digits, as whole numbers."""
    return finite(aside([number, _clamp(places, -1000, 1000)], _round_signed))


def _round_signed(number: Column, places: Column) -> Column:
    size = F.abs(number)
    text = F.when(size < LIMIT, digits(size)).otherwise(size.cast("string"))
    return let([_round_digits(size, text, places)], lambda own: F.when(number < 0, -own).otherwise(own))


def _round_digits(size: Column, text: Column, places: Column) -> Column:
    mantissa, power = F.regexp_extract(text, r"\A([^Ee]*)", 1), F.regexp_extract(text, r"[Ee]\+?(.*)\z", 1)
    behind = F.length(F.regexp_extract(mantissa, r"\.(.*)\z", 1))
    count = F.replace(mantissa, F.lit("."), F.lit("")).cast("bigint")
    exponent = F.coalesce(power.try_cast("int"), F.lit(0)) - behind
    return let([size, count, -places - exponent, places], _drop_digits)


def _drop_digits(size: Column, count: Column, dropped: Column, places: Column) -> Column:
    unit = F.rpad(F.lit("1"), _clamp(dropped, 1, 18) + 1, F.lit("0")).cast("bigint")
    half = F.call_function("div", unit, F.lit(2).cast("bigint"))
    kept = let([unit, half], lambda whole_unit, half_unit: F.call_function("div", count + half_unit, whole_unit))
    spelled = F.concat(kept.cast("string"), F.lit("E"), (-places).cast("string")).cast("double")
    return F.when(dropped <= 0, size).when(dropped > 18, F.lit(0.0)).when(dropped > 0, spelled)


_ONE_GAP = r"\A(?s:[^%]*%?[^%]*|%[^%]*%)\z"
"""Patterns of LIKE for which Spark needs at most the square of the length."""


def _like(text: Column, pattern: Column) -> Column:
    """LIKE; Java goes back for each % but the last, unless the first match of each piece between them is kept."""
    has_one_gap = pattern.rlike(_ONE_GAP)
    plain = F.like(text, F.when(has_one_gap, F.replace(pattern, F.lit("\\"), F.lit("\\\\"))))
    pieces = F.split(F.regexp_replace(pattern, "([^0-9A-Za-z_%])", "\\\\$1"), "%+")
    inner = F.slice(pieces, F.lit(2), F.greatest(F.size(pieces) - 2, F.lit(0)))
    between = F.transform(inner, lambda piece: F.concat(F.lit("(?>.*?"), piece, F.lit(")")))
    first, last = F.element_at(pieces, 1), F.element_at(pieces, -1)
    regular = F.concat(F.lit("(?s)\\A"), first, F.array_join(between, ""), F.lit(".*"), last, F.lit("\\z"))
    kept = F.rlike(text, F.replace(regular, F.lit("_"), F.lit(".")))
    return F.when(has_one_gap, plain).otherwise(kept)  # Spark computes constants in either branch


def _one_or_more(function: Callable[..., Column]) -> Lowering:
    """A function of Spark that wants two arguments at least."""
    return lambda call, arguments: function(*arguments) if len(arguments) > 1 else arguments[0]


def _clamp(number: Column, low: int, high: int) -> Column:
    """A whole number kept between two bounds; NULL stays NULL, which GREATEST and LEAST would drop."""
    return F.when(number < low, F.lit(low)).when(number > high, F.lit(high)).otherwise(number).cast("int")


def _short(number: Column) -> Column:
    return _clamp(number, 0, _SHORT)


def _substring(text: Column, start: Column, length: Column | None = None) -> Column:
    first = _clamp(start, 1, _SHORT)
    if length is None:
        return F.substring(text, first, F.lit(_SHORT))
    end = F.coalesce(F.try_add(start, length), F.lit(_SHORT))
    return F.when(length >= 0, F.substring(text, first, F.greatest(_clamp(end, 1, _SHORT) - first, F.lit(0))))


def _right(text: Column, count: Column) -> Column:
    begin = F.greatest(F.char_length(text) - _short(count), F.lit(0)) + 1
    return F.substring(text, begin, _short(count))


def _instant(tick: Column, length: Column, epoch: Column) -> Column:
    return instant(F.try_add(F.unix_micros(epoch), F.try_multiply(tick, length)))


def _tick(moment: Column, length: Column, epoch: Column) -> Column:
    """Division that rounds down; a length of 0 gives NULL."""
    passed = (F.unix_micros(moment) - F.unix_micros(epoch)) * F.signum(length).cast("bigint")
    size = F.when(length != 0, F.abs(length))
    return F.call_function("div", passed - F.pmod(passed, size), size)


def _date(part: Callable[[Column], Column]) -> Lowering:
    def lowered(moment: Column) -> Column:
        micros = F.unix_micros(moment)
        days = F.call_function("div", micros - F.pmod(micros, F.lit(_DAY)), F.lit(_DAY))
        return part(F.date_from_unix_date(days.cast("int"))).cast("bigint")

    return _plain(lowered)


def _clock(unit: int, count: int) -> Lowering:
    def lowered(moment: Column) -> Column:
        return F.call_function("div", F.pmod(F.unix_micros(moment), F.lit(unit * count)), F.lit(unit).cast("bigint"))

    return _plain(lowered)


LOWERINGS: dict[str, Lowering] = {
    "AND": _plain(lambda *parts: reduce(and_, parts)),
    "OR": _plain(lambda *parts: reduce(or_, parts)),
    "NOT": _plain(lambda value: ~value),
    "IS NULL": _plain(lambda value: value.isNull()),
    "=": _plain(lambda left, right: left == right),
    "<>": _plain(lambda left, right: left != right),
    "<": _plain(lambda left, right: left < right),
    "<=": _plain(lambda left, right: left <= right),
    ">": _plain(lambda left, right: left > right),
    ">=": _plain(lambda left, right: left >= right),
    "IN": _plain(lambda needle, *options: needle.isin(list(options))),
    "LIKE": _plain(_like),
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _plain(lambda left, right: finite(F.try_divide(left, right))),
    "%": _plain(F.try_mod),
    "NEG": _negative,
    "ABS": _absolute,
    "SIGN": _plain(lambda number: F.signum(number).cast("bigint")),
    "FLOOR": _to_whole(F.floor),
    "CEIL": _to_whole(F.ceil),
    "ROUND": _round,
    "DIV": _plain(_quotient),
    "SQRT": _plain(lambda number: finite(F.sqrt(number))),
    "POWER": _plain(lambda number, exponent: finite(F.pow(number, exponent))),
    "EXP": _plain(lambda number: finite(F.exp(number))),
    "LN": _plain(lambda number: finite(F.ln(number))),
    "LOG10": _plain(lambda number: finite(F.log10(number))),
    "GREATEST": _one_or_more(F.greatest),
    "LEAST": _one_or_more(F.least),
    "COALESCE": _plain(F.coalesce),
    "NULLIF": _plain(lambda left, right: F.when(F.coalesce(left != right, F.lit(True)), left)),
    "||": _plain(F.concat),
    "CONCAT": _plain(F.concat),
    "UPPER": _plain(fixed_case(F.upper)),
    "LOWER": _plain(fixed_case(F.lower)),
    "LENGTH": _plain(lambda text: F.char_length(text).cast("bigint")),
    "TRIM": _plain(F.trim),
    "LTRIM": _plain(F.ltrim),
    "RTRIM": _plain(F.rtrim),
    "SUBSTRING": _plain(_substring),
    "LEFT": _plain(lambda text, count: F.substring(text, F.lit(1), _short(count))),
    "RIGHT": _plain(_right),
    "REPLACE": _plain(F.replace),
    "POSITION": _plain(lambda text, part: F.position(part, text).cast("bigint")),
    "STARTS_WITH": _plain(F.startswith),
    "ENDS_WITH": _plain(F.endswith),
    "INSTANT": _plain(_instant),
    "TICK": _plain(_tick),
    "YEAR": _date(F.year),
    "MONTH": _date(F.month),
    "DAY": _date(F.day),
    "HOUR": _clock(_HOUR, 24),
    "MINUTE": _clock(_MINUTE, 60),
    "SECOND": _clock(_SECOND, 60),
}
"""By the name of the function; a test checks that every function has one."""

REPEATING = {"DIV", "ABS", "FLOOR", "CEIL", "ROUND", "NULLIF", "SUBSTRING", "LEFT", "RIGHT", "INSTANT", "TICK"}
"""The functions that name an argument more than once; `*` does so for decimals."""
