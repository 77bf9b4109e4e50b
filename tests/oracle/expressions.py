"""Random expressions and predicates over known columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from .question import Aggregate, Between, Binary, Case, Expr, In, IsNull, Literal, Not, Value

INTEGERS: tuple[Value, ...] = (-2, -1, 0, 0, 1, 1, 2, 3, 4, 7)
FLOATS: tuple[Value, ...] = (-0.75, 0.0, 0.25, 0.5, 1.0, 1.5, 2.25)
STRINGS: tuple[Value, ...] = ("a", "b", "B", "", "zz", "é", "o'k")
POOLS = {"integer": INTEGERS, "float": FLOATS, "string": STRINGS}
COUNTS: tuple[Value, ...] = (0, 1, 1, 2, 2, 3)
COMPARISONS = ("=", "=", "<>", "<>", "<", "<=", "<=", ">", ">=", ">=")


@dataclass(frozen=True)
class Ref:
    """Something that may be used as a value: the ways to write it, and values to compare it with.

    The kind is integer, float, string, or ratio. A ratio is a float that need not be exact, so it is
    never summed. A small value may be multiplied with another small one.
    """

    ways: tuple[Expr, ...]
    kind: str
    pool: tuple[Value, ...]
    small: bool = False


def combine(left: str, right: str) -> str:
    """The kind of a sum, difference or product."""
    if "ratio" in (left, right):
        return "ratio"
    return "float" if "float" in (left, right) else "integer"


class Phrases:
    """A source of random expressions over a list of values."""

    def __init__(self, rng: Random, refs: Sequence[Ref]) -> None:
        """Phrases over these values."""
        self.rng = rng
        self.refs = list(refs)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def write(self, ref: Ref) -> Expr:
        """One of the ways to write a value."""
        return self.rng.choice(ref.ways)

    def ref(self, *kinds: str) -> Ref | None:
        """Some value of one of these kinds."""
        fitting = [ref for ref in self.refs if ref.kind in kinds]
        return self.rng.choice(fitting) if fitting else None

    def number(self) -> Ref | None:
        """Some number, exact or not."""
        return self.ref("integer", "float", "ratio")

    def literal(self, ref: Ref) -> Literal:
        """A literal that this value may well have, sometimes one beside it."""
        value = self.rng.choice(ref.pool)
        if isinstance(value, int) and self.chance(0.15):
            return Literal(value + self.rng.choice((-1, 1)))
        if isinstance(value, int) and self.chance(0.06):
            return Literal(value + 0.5)
        return Literal(value)

    # --- values ------------------------------------------------------------------------------------

    def arithmetic(self) -> Ref | None:
        """A sum, difference, product or (seldom) quotient."""
        left = self.number()
        if left is None:
            return None
        op = self.rng.choices("+-*/", (28, 28, 26, 18))[0]
        if op == "/":
            return Ref((self._quotient(left),), "ratio", FLOATS)
        right = self.number()
        if right is None or self.chance(0.5) or (op == "*" and not (left.small and right.small)):
            literal = Literal(self.rng.choice(FLOATS if left.kind == "float" else INTEGERS))
            kind = combine(left.kind, "float" if isinstance(literal.value, float) else "integer")
            if op != "*" and self.chance(0.25):
                return _made(Binary(op, literal, self.write(left)), kind)
            return _made(Binary(op, self.write(left), literal), kind)
        expr: Expr = Binary(op, self.write(left), self.write(right))
        if self.chance(0.15):
            expr = Binary(self.rng.choice("+-"), expr, Literal(self.rng.choice((1, 2))))
        return _made(expr, combine(left.kind, right.kind))

    def _quotient(self, left: Ref) -> Expr:
        right = self.number()
        if right is None or self.chance(0.4):
            return Binary("/", self.write(left), Literal(self.rng.choice((0, 0, 2, 3, 4, -2, 0.5))))
        return Binary("/", self.write(left), self.write(right))

    def case(self) -> Ref:
        """A CASE whose branches all have one kind."""
        result = self.rng.choice(self.refs)
        branches = []
        for _ in range(self.rng.choice((1, 1, 2))):
            branches.append((self.leaf(), self._like(result)))
        otherwise = self._like(result) if self.chance(0.65) else None
        return Ref((Case(tuple(branches), otherwise),), result.kind, result.pool)

    def _like(self, wanted: Ref) -> Expr:
        """A value of the same kind as another one."""
        other = self.ref(wanted.kind)
        if other is None or self.chance(0.45):
            return Literal(self.rng.choice(wanted.pool))
        return self.write(other)

    def value(self) -> Ref:
        """An expression that is more than a column."""
        found = None if self.chance(0.3) else self.arithmetic()
        return self.case() if found is None else found

    # --- predicates --------------------------------------------------------------------------------

    def leaf(self) -> Expr:
        """A predicate without AND, OR and NOT."""
        ref = self.rng.choice(self.refs)
        shape = self.rng.choices(("compare", "pair", "null", "in", "between"), (42, 12, 12, 17, 17))[0]
        operand = self.write(ref)
        if shape == "null":
            return IsNull(operand, self.chance(0.5))
        if shape == "in":
            return self._in(ref, operand)
        if shape == "between":
            low, high = self.literal(ref), self.literal(ref)
            if not self.chance(0.12) and _above(low.value, high.value):
                low, high = high, low
            return Between(operand, low, high, self.chance(0.25))
        if shape == "pair":
            other = self.ref("string") if ref.kind == "string" else self.number()
            if other is not None and other is not ref:
                return Binary(self.rng.choice(COMPARISONS), operand, self.write(other))
        if self.chance(0.1):
            return Binary(self.rng.choice(COMPARISONS), self.literal(ref), operand)
        return Binary(self.rng.choice(COMPARISONS), operand, self.literal(ref))

    def _in(self, ref: Ref, operand: Expr) -> Expr:
        count = self.rng.choice((1, 2, 3, 3))
        options = [Literal(value) for value in dict.fromkeys(self.rng.choices(ref.pool, k=count))]
        if self.chance(0.3):
            return In(operand, (*options, Literal(None)), self.chance(0.6))
        return In(operand, tuple(options), self.chance(0.35))

    def predicate(self, depth: int | None = None) -> Expr:
        """A predicate, perhaps of several parts."""
        if depth is None:
            whole = self.predicate(self.rng.choice((0, 1, 1, 2)))
            return Binary("OR", whole, self.leaf()) if self.chance(0.3) else whole
        shape = self.rng.choices(("leaf", "value", "and", "or", "not"), (38, 16, 18, 17, 12))[0]
        if depth > 0 and shape in ("and", "or"):
            return Binary(shape.upper(), self.predicate(depth - 1), self.predicate(depth - 1))
        if depth > 0 and shape == "not":
            return Not(self.predicate(depth - 1))
        if shape == "value":
            value = self.value()
            op = self.rng.choice(("<", "<=", ">", ">=", "<>", "<>", "="))
            return Binary(op, self.write(value), Literal(self.rng.choice(value.pool)))
        return self.leaf()

    # --- aggregates --------------------------------------------------------------------------------

    def aggregate(self) -> Ref:
        """An aggregate call."""
        names = ("COUNT(*)", "COUNT", "SUM", "AVG", "MIN", "MAX")
        function = self.rng.choices(names, (18, 16, 18, 15, 16, 17))[0]
        ref = self.ref("integer", "float") if function in ("SUM", "AVG") else self.rng.choice(self.refs)
        if function == "COUNT(*)" or ref is None:
            return Ref((Aggregate("COUNT"),), "integer", COUNTS)
        if self.chance(0.12):
            value = self.value()
            ref = value if value.kind == ref.kind else ref
        call = Aggregate(function, self.write(ref))
        if function == "COUNT":
            return Ref((call,), "integer", COUNTS)
        if function == "AVG":
            return Ref((call,), "ratio", tuple(ref.pool))
        return Ref((call,), ref.kind, ref.pool)


def _made(expr: Expr, kind: str) -> Ref:
    """A computed number."""
    return Ref((expr,), kind, INTEGERS if kind == "integer" else FLOATS)


def _above(left: Value, right: Value) -> bool:
    """True when two values of one kind are the wrong way round."""
    if isinstance(left, str) and isinstance(right, str):
        return left > right
    return isinstance(left, int | float) and isinstance(right, int | float) and left > right
