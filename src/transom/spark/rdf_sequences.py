"""Sequences on Spark: the solutions of every tick at which something changes, in order, and parts of them."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import TRUE
from transom.physical.lines import Relate, Relating, Turn
from transom.physical.plan import Form
from transom.physical.rdf_plan import Cut, Pick, Sequence, Single, Unfold
from transom.spark import relate, terms
from transom.spark.frames import LoweringContext, carried, columns_of, names
from transom.spark.sql import F as S
from transom.spark.sql import Inputs, Sql
from transom.spark.term_spelling import datatype, end, is_literal, is_name, is_node, lexical, name_of, tag

_LONG = 2**31 - 1


def sequence(node: Sequence, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Rows with their place (`o`, from 1); of what changes with time, all of every tick, and a word for the tick."""
    there = columns_of(node.input.schema)
    per = [there[name].alias(f"per{place}") for place, name in enumerate(node.per)]
    if node.form is Form.TABLE:
        whole = frame.groupBy(*carried(frame), F.lit(0).alias("_"), *per).agg(
            F.collect_list(_entry(node)).alias("rows")
        )
    else:
        rows = _contents(node, frame, run)
        entry = F.when(F.col("p"), _entry(node))
        whole = rows.groupBy(*carried(rows), *per).agg(F.collect_list(entry).alias("rows"))
    lists = whole.select(*carried(whole), _taken(node).alias("rows"))
    cells = names(node.schema)
    if node.form is Form.TABLE:
        found = lists.select(*carried(lists), F.posexplode("rows").alias("o", "r"))
        return found.select(*carried(found), (F.col("o") + 1).alias("o"), *(F.col(f"r.{n}").alias(n) for n in cells))
    found = lists.select(*carried(lists), F.posexplode_outer("rows").alias("o", "r"))
    return found.select(
        *carried(found),
        F.col("r").isNotNull().alias("p"),
        F.coalesce(F.col("o") + 1, F.lit(0)).alias("o"),
        *(F.col(f"r.{n}").alias(n) for n in cells),
    )


def _contents(node: Sequence, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """All solutions of every tick at which one comes or goes, from the machine that keeps them."""
    copies = F.abs(F.col("n")).cast("int")
    sign = F.signum(F.col("n")).cast("int")
    events = F.concat(F.array_repeat(F.struct(sign.alias("n"), F.lit(True).alias("p")), copies), F.array(_word()))
    cells = names(node.input.schema)
    fed = frame.select(*carried(frame), F.inline(events), *cells)
    choice = node.choice
    whole = Relate(node.input, None, Relating.MERGE, (), TRUE, 1, node.input.schema, choice)
    return relate.relate(whole, fed, None, run)


def _word() -> Column:
    return F.struct(F.lit(1).alias("n"), F.lit(False).alias("p"))


def _entry(node: Sequence) -> Column:
    """A solution with what puts it in order: the keys, then the terms of some variables."""
    there = columns_of(node.input.schema)
    keys: list[Column] = []
    for at, key in enumerate(node.keys):
        parts = terms.order_key(key.expression, there)
        keys.append(F.struct(*(part.alias(f"p{place}") for place, part in enumerate(parts))).alias(f"k{at}"))
    ties = [fixed_order(there[name]) for name in node.ties if name in there]
    tie = F.struct(F.lit(0).alias("_"), *(part.alias(f"t{place}") for place, part in enumerate(ties))).alias("tie")
    return F.struct(*keys, tie, *names(node.input.schema))


def _taken(node: Sequence) -> Column:
    """The list in order, and what is taken of it."""
    if node.keys:
        rows = F.array_sort(F.col("rows"), lambda one, other: _compared(node, one, other))
    else:
        rows = F.sort_array("rows")
    own = {a.name: f"c{place}" for place, a in enumerate(node.input.schema)}
    rows = F.transform(rows, _picking(list(own.values())))
    for step in node.after:
        match step:
            case Pick(names=wanted):
                rows = F.transform(rows, _picking([own.get(name) for name in wanted]))
                own = {name: f"c{place}" for place, name in enumerate(wanted)}
            case Single():
                rows = F.array_distinct(rows)
            case Cut(offset=offset, limit=limit):
                rows = F.slice(rows, offset + 1, _LONG if limit is None else limit)
    return rows


def _picking(places: list[str | None]) -> Callable[[Column], Column]:
    """Some columns of a row."""
    return lambda row: _row([None if place is None else row[place] for place in places])


def _row(cells: list[Column | None]) -> Column:
    nothing = F.lit(None).cast("string")
    return F.struct(
        F.lit(0).alias("_"), *((nothing if c is None else c).alias(f"c{place}") for place, c in enumerate(cells))
    )


def _compared(node: Sequence, one: Column, other: Column) -> Column:
    """Which of two comes first: -1, 0 or 1."""
    found = _either(one["tie"], other["tie"], False)
    for at in reversed(range(len(node.keys))):
        key = _either(one[f"k{at}"], other[f"k{at}"], node.keys[at].descending)
        found = F.when(key != 0, key).otherwise(found)
    return found


def _either(one: Column, other: Column, descending: bool) -> Column:
    less, more = (1, -1) if descending else (-1, 1)
    return F.when(one < other, F.lit(less)).when(one > other, F.lit(more)).otherwise(F.lit(0))


def unfold(node: Unfold, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The solutions of a sequence, as they are or as changes."""
    if node.form is Form.TABLE:
        return frame.drop("o")
    rows = frame.withColumn("w", F.lit(1))
    return relate.turn(Turn(node.input, node.schema, node.choice), rows, run)


def fixed_order(term: Column) -> Column:
    """What puts any two terms in one fixed order, as the model does: nothing, blank nodes, names, literals."""
    inputs = Inputs()
    return inputs.column(_fixed_order(inputs.name(term)))


def _fixed_order(term: Sql) -> Sql:
    ended = end(term)
    kind = S.when(term.isNull(), 0).when(is_node(term), 1).when(is_name(term), 2).otherwise(3)
    text = (
        S.when(is_node(term), S.substring(term, 3, S.length(term)))
        .when(is_name(term), name_of(term))
        .when(is_literal(term), lexical(term, ended))
    )
    parts = (
        S.coalesce(text, ""),
        S.coalesce(S.when(is_literal(term), name_of(datatype(ended))), ""),
        S.coalesce(S.when(is_literal(term), tag(ended)), ""),
    )
    return S.struct(kind.alias("k"), *(part.alias(f"p{place}") for place, part in enumerate(parts)))
