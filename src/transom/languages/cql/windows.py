"""Translates CQL windows by time, rows, region, distance and their combinations to the one window operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from transom.algebra.cql_windows import (
    distance_window,
    last_rows_window,
    recent_region_window,
    recent_window,
    recent_window_by_distance,
    region_window,
)
from transom.algebra.operator import Stream
from transom.algebra.streams import Renumber, is_dense
from transom.algebra.windows import Bound, Coordinate, CoordinateRange, Every, OnArrival, UnboundedRange, Window
from transom.catalog.reading.wording import POSITION_EXAMPLE, or_declare, region_line
from transom.errors import LanguageRule, NameProblem, Span
from transom.languages.cql import syntax
from transom.languages.cql.parse import unknown_unit
from transom.languages.cql.space import check_geodesic
from transom.languages.cql.syntax import Domain, Quantity, RangeClause, RegionName, RowQuantity, SlideClause
from transom.languages.cql.unparse import window_text
from transom.languages.sql.dialects import HalfOpenWindow
from transom.languages.sql.syntax import Name
from transom.languages.sql.type_messages import shorten
from transom.model.geometry.regions import Region
from transom.model.geometry.space import MICROMETRES, Position
from transom.model.schema import Attribute
from transom.model.time import UNITS, Calendar

TICK, INDEX, DISTANCE = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE
COMBINED_RANGES_HINT = "keep one; only a region can be combined with a range of time"
_ONE_KILOMETRE = SlideClause(Quantity(Decimal(1), "km"), None)


@dataclass(frozen=True, slots=True)
class WindowTranslator:
    """Translates the windows of one source, from the catalog's calendar and regions and the source's declarations."""

    calendar: Calendar
    regions: Mapping[str, Region]
    position: Position | None
    object: str | None
    name: str
    forget_after: int | None = None
    has_several_objects: bool = False
    """Whether rows may belong to several objects that no attribute tells apart."""

    def window(self, window: syntax.WindowClause, input: Stream, key: tuple[Attribute, ...]) -> Window:
        """Translate a window clause over the stream `input`; `key` has the attributes of PARTITION BY.

        Units decide whether the window is by time, rows or distance.
        """
        if window.zone is not None:
            from transom.languages.cql.calendar_windows import period_window

            return period_window(window, window.zone, self.calendar, input, key)
        slide = None if window.slide is None else self.slide(window.slide)
        if window.now:
            return recent_window(input, 0, 1, key)
        if not window.ranges:
            return self.unbounded(window, input, slide, key)
        self.check_combination(window.ranges)
        region_name = next((clause.value for clause in window.ranges if isinstance(clause.value, RegionName)), None)
        other_ranges = [clause for clause in window.ranges if not isinstance(clause.value, RegionName)]
        if isinstance(slide, int) and (region_name is not None or not isinstance(other_ranges[0].value, RowQuantity)):
            raise LanguageRule(
                "a slide in rows needs a range in rows",
                span=window.slide.span if window.slide else window.span,
                hint="write a slide in time or distance, such as SLIDE '1 minute', or ROWS as the range",
            )
        every = slide if isinstance(slide, Every) else None
        if region_name is not None:
            return self.region(region_name, other_ranges, window, input, every, key)
        value = other_ranges[0].value
        if isinstance(value, RowQuantity):
            return self.rows(value, input, slide, key, window)
        assert isinstance(value, Quantity)  # noqa: S101 - regions went before
        if self.domain(other_ranges[0], value) is Domain.SPACE:
            if every is None:
                raise LanguageRule(
                    "a distance range needs a slide",
                    span=other_ranges[0].span,
                    hint=f"write for example {self.example(replace(window, slide=_ONE_KILOMETRE))}",
                )
            return distance_window(input, self.distance_position(window, key), self.length(value), every, key)
        width = self.ticks(value)
        if every is not None and every.coordinate is DISTANCE:
            return recent_window_by_distance(input, self.distance_position(window, key), width, every.step, key)
        return recent_window(input, width, 1 if every is None else every.step, key)

    def unbounded(
        self, window: syntax.WindowClause, input: Stream, slide: Every | int | None, key: tuple[Attribute, ...]
    ) -> Window:
        """Return the window of all rows so far per `key`, at each `slide` (None: each row; int, rows: LanguageRule).

        It is created at each `slide`, or at each arrival of a row if `slide` is None.
        """
        if isinstance(slide, int):
            raise LanguageRule(
                "UNBOUNDED cannot slide by rows",
                span=window.slide.span if window.slide else window.span,
                hint="write a slide in time or distance, such as SLIDE '1 minute'",
            )
        by_distance = slide is not None and slide.coordinate is DISTANCE
        position = self.distance_position(window, key) if by_distance else None
        return Window(input, slide or OnArrival(), UnboundedRange(), key, position=position)

    def region(
        self,
        region_name: RegionName,
        other_ranges: list[RangeClause],
        window: syntax.WindowClause,
        input: Stream,
        slide: Every | None,
        key: tuple[Attribute, ...],
    ) -> Window:
        """Return a window of a region's rows (of a time in `other_ranges`) per `key`, at each `slide` (None: arrival).

        A range of time in `other_ranges` keeps only recent rows. The window is created at each `slide`, or at each
        arrival of a row if `slide` is None.
        """
        position = self.required_position(window)
        if slide is not None and slide.coordinate is DISTANCE:
            self.check_object(window, key)
        if region_name.name not in self.regions:
            hint = or_declare(region_name.name, self.regions, region_line(region_name.name))
            raise NameProblem(f"no region is called {shorten(region_name.name)}", span=region_name.span, hint=hint)
        region = self.regions[region_name.name]
        check_geodesic(region, position.geodesic, region_name.span)
        if not other_ranges:
            return region_window(input, position, region, slide, key)
        value = other_ranges[0].value
        assert isinstance(value, Quantity)  # noqa: S101 - check_together checked it
        return recent_region_window(input, position, region, self.ticks(value), slide, key)

    def rows(
        self,
        rows: RowQuantity,
        input: Stream,
        slide: Every | int | None,
        key: tuple[Attribute, ...],
        window: syntax.WindowClause,
    ) -> Window:
        """Return the window of the last n rows per `key`, at each `slide` (int: rows; None: each row).

        It is created at each `slide`, or at each row if `slide` is None (C18).
        """
        if rows.count == 0:
            raise LanguageRule("a window cannot have 0 rows", span=rows.span, hint="write ROWS 1 or more")
        stream = input if key or is_dense(input) else Renumber(input)
        if not isinstance(slide, Every):
            return last_rows_window(stream, rows.count, slide or 1, key)
        position = self.distance_position(window, key) if slide.coordinate is DISTANCE else None
        row_range = CoordinateRange(INDEX, Bound(1, 1 - rows.count), Bound(1, 0))
        return Window(stream, slide, row_range, key, position=position)

    def slide(self, slide: SlideClause) -> Every | int:
        """Translate a slide to a number of rows (int), or to a step in ticks or micrometres (Every).

        Raises LanguageRule if it is 0.
        """
        match slide.value:
            case RowQuantity(count=step):
                translated: Every | int = step
            case Quantity():
                by_space = self.domain(slide, slide.value) is Domain.SPACE
                step = self.length(slide.value) if by_space else self.ticks(slide.value)
                translated = Every(DISTANCE if by_space else TICK, step) if step else 0
            case _:
                assert_never(slide.value)
        if step == 0:
            raise LanguageRule("a slide cannot be 0", span=slide.span, hint="write a slide of more than 0")
        return translated

    def range_ticks(self, window: syntax.WindowClause) -> int | None:
        """Return the ticks of a window whose only range is a positive length of time; None for other windows.

        None also if the only range is not of time.
        """
        if window.zone is not None:
            return None
        if len(window.ranges) != 1 or not isinstance(value := window.ranges[0].value, Quantity):
            return None
        return self.ticks(value) or None if self.domain(window.ranges[0], value) is Domain.TIME else None

    def check_combination(self, ranges: tuple[RangeClause, ...]) -> None:
        """Raise LanguageRule if a window's ranges cannot be combined; only a region and a time range can (C28)."""
        for clause in ranges:
            if isinstance(clause.value, RegionName) and clause.domain is Domain.TIME:
                raise LanguageRule(
                    f"{shorten(clause.value.name)} is a region, not a length of time",
                    span=clause.span,
                    hint="write RATTR SPACE",
                )
        if len(ranges) == 1:
            return
        kinds = [
            "region" if isinstance(clause.value, RegionName) else self.domain(clause, clause.value).value
            if isinstance(clause.value, Quantity) else "rows"
            for clause in ranges
        ]  # fmt: skip
        if sorted(kinds) != ["TIME", "region"]:
            raise LanguageRule("these ranges cannot be combined", span=ranges[1].span, hint=COMBINED_RANGES_HINT)

    def domain(self, clause: RangeClause | SlideClause, quantity: Quantity) -> Domain:
        """Return the domain TIME or SPACE of a range's or slide's unit; LanguageRule if RATTR or SATTR says the other.

        Raises LanguageRule if RATTR or SATTR says something else (C19).
        """
        domain = Domain.TIME if quantity.unit in UNITS else Domain.SPACE if quantity.unit in MICROMETRES else None
        if domain is None:
            raise unknown_unit(quantity.unit, quantity.unit_span)
        if clause.domain is not None and clause.domain is not domain:
            keyword = "RATTR" if isinstance(clause, RangeClause) else "SATTR"
            kind = "length of time" if clause.domain is Domain.TIME else "distance"
            raise LanguageRule(
                f"{quantity.amount:f} {quantity.unit} is not a {kind}",
                span=clause.span,
                hint=f"write {keyword} {domain.value}",
            )
        return domain

    def non_overlapping_window(self, window: syntax.WindowClause, slide_ticks: int) -> str | None:
        """Return `window` as text with a range so short that windows do not overlap; None if no unit is exact.

        It is None if no unit of time is exact.
        """
        lengths = exact_quantities([ticks * self.calendar.length for ticks in (slide_ticks - 1, slide_ticks)])
        if lengths is None or window.slide is None:
            return None
        width, step = lengths
        ranges = (replace(window.ranges[0], value=width),)
        return f"[{window_text(replace(window, ranges=ranges, slide=replace(window.slide, value=step)))}]"

    def window_without_gap(self, window: syntax.WindowClause, slide_ticks: int, gap_ticks: int) -> str | None:
        """Return `window` as text with a range as long as its slide, if the gap is shorter than its unit; else None.

        Such a gap is hardly meant. Without a gap, 59 seconds are 59999 ms if a tick is 1 ms.
        """
        quantity = window.ranges[0].value
        if not isinstance(quantity, Quantity) or gap_ticks * self.calendar.length >= UNITS[quantity.unit]:
            return None
        return self.non_overlapping_window(window, slide_ticks)

    def ticks(self, quantity: Quantity) -> int:
        """Convert a duration to ticks; raises LanguageRule if it is not a whole number of ticks."""
        exact = Fraction(quantity.amount) * UNITS[quantity.unit]
        ticks = self.calendar.ticks(int(exact)) if exact.denominator == 1 else None
        if ticks is None:
            raise LanguageRule(
                f"{quantity.amount:f} {quantity.unit} is not a whole number of ticks",
                span=quantity.span,
                hint=f"a tick of this catalog lasts {self.calendar.describe(1)}; use multiples of it",
            )
        return self.checked_length(ticks, quantity.span)

    def length(self, quantity: Quantity) -> int:
        """Convert a distance to micrometres; raises LanguageRule if it is not a whole number of micrometres."""
        exact = Fraction(quantity.amount) * MICROMETRES[quantity.unit]
        if exact.denominator != 1:
            raise LanguageRule(
                f"{quantity.amount:f} {quantity.unit} is not a whole number of micrometres",
                span=quantity.span,
                hint="write a multiple of 0.000001 m",
            )
        return self.checked_length(int(exact), quantity.span)

    @staticmethod
    def checked_length(amount: int, span: Span) -> int:
        """Return a length in ticks or micrometres unchanged; raises LanguageRule at `span` if it exceeds 64 bits."""
        if amount >= 2**63:
            raise LanguageRule("this length does not fit into 64 bits", span=span, hint="write a shorter one")
        return amount

    def required_position(self, window: syntax.WindowClause) -> Position:
        """Return the position that the catalog declares for the source; raises LanguageRule if it declares none."""
        if self.position is None:
            raise LanguageRule(
                f"a distance or region window needs positions, but {self.name} has none",
                span=window.span,
                hint=f"declare `position` of {self.name} in the catalog, such as {POSITION_EXAMPLE}",
            )
        return self.position

    def distance_position(self, window: syntax.WindowClause, key: tuple[Attribute, ...]) -> Position:
        """Return a source's position for a window by distance; LanguageRule if objects mix for lack of a `key`.

        A PARTITION BY key keeps the objects apart (C14, C31).
        """
        self.check_object(window, key)
        return self.required_position(window)

    def check_object(self, window: syntax.WindowClause, key: tuple[Attribute, ...]) -> None:
        """Raise LanguageRule if the source has several moving objects that `key` (PARTITION BY) does not separate."""
        if self.object is not None and not key:
            raise LanguageRule(
                "a window by distance needs PARTITION BY",
                span=window.span,
                hint="each object's distance is measured along its own path: write " + self.example(window),
            )

    def example(self, window: syntax.WindowClause) -> str:
        """Return the text of a window for a hint, partitioned by the source's object if it has one."""
        if self.object is not None and not window.partition:
            window = replace(window, partition=(Name(None, self.object),))
        return f"[{window_text(window)}]"


def exact_quantities(lengths: Sequence[int]) -> list[Quantity] | None:
    """Convert durations in microseconds to quantities in the largest unit exact for all; None if none is.

    >>> [f"{quantity.amount} {quantity.unit}" for quantity in exact_quantities([59_000_000, 60_000_000])]
    ['59 seconds', '60 seconds']
    """
    for unit in ("days", "hours", "minutes", "seconds", "milliseconds", "microseconds"):
        if not any(length % UNITS[unit] for length in lengths):
            return [Quantity(Decimal(length // UNITS[unit]), unit) for length in lengths]
    return None


def window_hint(source: str, window: HalfOpenWindow | None, calendar: Calendar) -> str:
    """Return a hint: the CQL window to write after `source` instead of TUMBLE or the like (None: an example).

    Without `window`, or if ticks do not divide it, the hint has an example.
    """
    length = calendar.length
    lengths = None if window is None else exact_quantities([window.width - length, window.slide])
    if window is None or lengths is None or window.width % length or window.slide % length:
        example = f"{shorten(source)} [RANGE '299 seconds', SLIDE '300 seconds']"
        return f"write a window of fixed length, for example {example}, which includes both ends"
    text = window_text(syntax.WindowClause((), (RangeClause(lengths[0]),), SlideClause(lengths[1])))
    return f"write {shorten(source)} [{text}] in FROM; it includes both ends"
