"""Random typed expressions over a table of awkward values."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from transom.algebra.expressions.expression import Call, Case, Cast, Column, Constant, Expression, castable
from transom.algebra.expressions.functions import FUNCTIONS, Signature
from transom.model.schema import Attribute, Schema
from transom.model.types import DECLARABLE, Type, Value

INEXACT = ("POWER", "EXP", "LN", "LOG10")
SCHEMA = Schema(tuple(Attribute(f"{kind.value}_{n}", kind) for kind in DECLARABLE for n in (1, 2, 3)))

_WHOLE = [0, 1, -1, 2, 3, -5, 7, 10, 100, 2**31, 2**53 + 1, 10**15, 2**63 - 1, -(2**63), -(2**63) + 1, 2**62]
_FLOATS = [
    *(0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 0.1, 0.2, 0.30000000000000004, 1e-7, -1e-7, 1e16, 1e22, 1e23, 2e23, -9.5e18),
    *(9.223372036854775e18, 2.0**63, -(2.0**63), 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 2.0**-44),
    *(1125899906842624.2, 8.2411496521413e18, 0.285, 1.005, 2.675, 1e-5, 123456.789, 5e17, 2.5e16, 1e-30, -4.5),
]
_DECIMALS = [
    *("0", "1", "-1", "0.5", "-0.5", "1.5", "0.01", "-12.345", "1000000", "0.000000001", "123456789.123456789"),
    "-99999999.99",
]
_STRINGS = [
    *(
        "",
        " ",
        "a",
        "A",
        "ab",
        "abc",
        "aXbXc",
        "%",
        "_",
        "a%",
        "_b%",
        "\\",
        "\\%",
        "a\\b",
        "é",
        "ß",
        "straße",
        "日本語",
    ),
    *(
        "😀x",
        "  pad  ",
        "\tx\n",
        "1",
        "-7",
        " 42 ",
        "+5",
        "1.5",
        ".5",
        "1.",
        "1e3",
        "-0",
        "nan",
        "inf",
        "true",
        "FALSE",
    ),
    *(
        "9223372036854775808",
        "1e400",
        "2024-02-30",
        "2024-02-29",
        "2024-01-05T10:11:12.5+05:30",
        "0x1",
        "20240105T101112",
    ),
    *("1969-12-31 23:59:59,999999Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01"),
]


class Garden:
    """Grows expressions, and counts how often each function is used."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.used: Counter[str] = Counter()

    def value(self, kind: Type) -> Value:
        rng = self.rng
        match kind:
            case Type.INTEGER | Type.TIME:
                return rng.choice([rng.choice(_WHOLE), rng.randint(-20, 20), rng.randint(-(2**40), 2**40)])
            case Type.FLOAT:
                drawn = [rng.choice(_FLOATS), rng.randint(-9999, 9999) / 100, rng.gauss(0, 1e3), rng.choice(_FLOATS)]
                return rng.choice(drawn) * rng.choice([1, 1, -1]) + 0.0
            case Type.DECIMAL:
                return (
                    Decimal(rng.choice(_DECIMALS)).normalize() if rng.random() < 0.7 else Decimal(rng.randint(-99, 99))
                )
            case Type.STRING:
                return (
                    rng.choice(_STRINGS)
                    if rng.random() < 0.7
                    else "".join(rng.choices("aAbB_% é", k=rng.randint(0, 6)))
                )
            case Type.BOOLEAN:
                return rng.random() < 0.5
            case _:
                span = rng.choice([10**6, 10**12, 6 * 10**16, 6 * 10**16])
                return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=rng.randint(-span, span))

    def maybe(self, kind: Type) -> Value:
        return None if self.rng.random() < 0.12 else self.value(kind)

    def rows(self, count: int) -> list[tuple[Value, ...]]:
        return [tuple(self.maybe(a.type) for a in SCHEMA) for _ in range(count)]

    def leaf(self, kind: Type) -> Expression:
        if self.rng.random() < 0.3:
            return Constant(self.maybe(kind), kind)
        return Column(self.rng.choice([a for a in SCHEMA if a.type is kind]))

    def expression(self, kind: Type, depth: int) -> Expression:
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf(kind)
        pick = self.rng.random()
        if pick < 0.1:
            branches = [
                (self.expression(Type.BOOLEAN, depth - 1), self.expression(kind, depth - 1))
                for _ in range(self.rng.randint(1, 2))
            ]
            return Case(tuple(branches), self.expression(kind, depth - 1))
        if pick < 0.22:
            given = self.rng.choice([k for k in DECLARABLE if castable(k, kind)])
            return Cast(self.expression(given, depth - 1), kind)
        offered = [
            (name, signature)
            for name, function in FUNCTIONS.items()
            for signature in function.signatures
            if signature.result is kind and name not in INEXACT and Type.TERM not in signature.arguments
        ]
        return self.call(*self.rng.choice(offered), depth) if offered else self.leaf(kind)

    def call(self, name: str, signature: Signature, depth: int) -> Expression:
        """A call of a function; the length of a tick is never 0."""
        self.used[name] += 1
        count = len(signature.arguments) + (self.rng.randint(0, 3) if signature.repeats else 0)
        kinds = signature.expand(count) or ()
        arguments = [self.expression(kind, depth - 1) for kind in kinds]
        if name == "TICK":
            arguments[1] = Constant(self.rng.choice([1, 7, 1000, 10**6, 6 * 10**7, -3]), Type.INTEGER)
        return Call(FUNCTIONS[name], tuple(arguments))

    def roots(self, per_signature: int, free: int) -> list[Expression]:
        """Calls of every signature, all casts, and freely grown expressions."""
        grown: list[Expression] = []
        for name, function in FUNCTIONS.items():
            for signature in (one for one in function.signatures if Type.TERM not in one.arguments):
                for round_ in range(per_signature):
                    grown.append(self.call(name, signature, 1 + round_ % 3))
        for given in DECLARABLE:
            for wanted in DECLARABLE:
                if castable(given, wanted):
                    grown += [Cast(self.expression(given, n % 3), wanted) for n in range(4)]
        return grown + [self.expression(self.rng.choice(DECLARABLE), 4) for _ in range(free)]
