"""Windows of CQL to the one window operator: by time, by rows, by region, by distance, and their mixtures."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from transom.algebra.cql_windows import inside, inside_lately, last_rows, last_way, recent, recent_by_way
from transom.algebra.operator import Stream
from transom.algebra.streams import Renumber, is_dense
from transom.algebra.windows import Arrival, Between, Bound, Coordinate, Every, Everything, Window
from transom.catalog.wording import did_you_mean
from transom.errors import LanguageRule, NameProblem, Span
from transom.languages.cql import syntax
from transom.languages.cql.space import check_measure
from transom.languages.cql.syntax import Domain, Place, Quantity, Reach, Rows, Slide
from transom.languages.sql.wording import brief
from transom.model.regions import Region
from transom.model.schema import Attribute
from transom.model.space import MICROMETRES, Position
from transom.model.time import UNITS, Calendar

TICK, INDEX, DISTANCE = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE
SLIDE_BY = "write SLIDE BY '10 km' SATTR SPACE, or give the name of a region"
TOGETHER = "a region may stand beside a range of time; other ranges stand alone"


@dataclass(frozen=True, slots=True)
class Frame:
    """What a window stands on: the calendar and regions of the catalog, the places, objects and hints of the source."""

    calendar: Calendar
    regions: Mapping[str, Region]
    position: Position | None
    object: str | None
    name: str
    forget_after: int | None = None
    several: bool = False
    """Whether the rows may be of several objects that nothing tells apart."""

    def window(self, window: syntax.Window, input: Stream, key: tuple[Attribute, ...]) -> Window:
        """The window operator over a stream; what it slides and ranges on follows from the units."""
        slide = None if window.slide is None else self.slide(window.slide)
        if window.now:
            return recent(input, 0, 1, key)
        if not window.reaches:
            return self.unbounded(window, input, slide, key)
        self.check_together(window.reaches)
        place = next((r.value for r in window.reaches if isinstance(r.value, Place)), None)
        others = [r for r in window.reaches if not isinstance(r.value, Place)]
        if isinstance(slide, int) and (place is not None or not isinstance(others[0].value, Rows)):
            raise LanguageRule(
                "a slide of rows beside another range",
                span=window.slide.span if window.slide else window.span,
                hint="write SLIDE BY and a length of time or a distance, or ROWS as the range",
            )
        every = slide if isinstance(slide, Every) else None
        if place is not None:
            return self.region(place, others, window, input, every, key)
        value = others[0].value
        if isinstance(value, Rows):
            return self.rows(value, input, slide, key, window)
        assert isinstance(value, Quantity)  # noqa: S101 - regions went before
        if self.domain(others[0], value) is Domain.SPACE:
            if every is None:
                raise LanguageRule("a range of distance without a slide", span=others[0].span, hint=SLIDE_BY)
            return last_way(input, self.places(window, key), self.length(value), every, key)
        past = self.ticks(value)
        if every is not None and every.coordinate is DISTANCE:
            return recent_by_way(input, self.places(window, key), past, every.step, key)
        return recent(input, past, 1 if every is None else every.step, key)

    def unbounded(
        self, window: syntax.Window, input: Stream, slide: Every | int | None, key: tuple[Attribute, ...]
    ) -> Window:
        """Everything that came, at every arrival or at every slide."""
        if isinstance(slide, int):
            raise LanguageRule(
                "UNBOUNDED slides by time or distance",
                span=window.slide.span if window.slide else window.span,
                hint="write SLIDE and a length of time",
            )
        by_distance = slide is not None and slide.coordinate is DISTANCE
        position = self.places(window, key) if by_distance else None
        return Window(input, slide or Arrival(), Everything(), key, position=position)

    def region(
        self,
        place: Place,
        others: list[Reach],
        window: syntax.Window,
        input: Stream,
        slide: Every | None,
        key: tuple[Attribute, ...],
    ) -> Window:
        """What is inside a region, with a range of time what was inside lately (C5, C27, C28)."""
        position = self.located(window)
        if slide is not None and slide.coordinate is DISTANCE:
            self.check_object(window, key)
        if place.name not in self.regions:
            hint = did_you_mean(place.name, self.regions) or "declare `regions` in the catalog"
            raise NameProblem(f"no region is called {brief(place.name)}", span=place.span, hint=hint)
        region = self.regions[place.name]
        check_measure(region, position.geodesic, place.span)
        if not others:
            return inside(input, position, region, slide, key)
        value = others[0].value
        assert isinstance(value, Quantity)  # noqa: S101 - check_together asked
        return inside_lately(input, position, region, self.ticks(value), slide, key)

    def rows(
        self,
        rows: Rows,
        input: Stream,
        slide: Every | int | None,
        key: tuple[Attribute, ...],
        window: syntax.Window,
    ) -> Window:
        """The last rows by arrival (C18)."""
        if rows.count == 0:
            raise LanguageRule("a window of 0 rows", span=rows.span, hint="a window holds at least 1 row")
        stream = input if key or is_dense(input) else Renumber(input)
        if not isinstance(slide, Every):
            return last_rows(stream, rows.count, slide or 1, key)
        position = self.places(window, key) if slide.coordinate is DISTANCE else None
        reach = Between(INDEX, Bound(1, 1 - rows.count), Bound(1, 0))
        return Window(stream, slide, reach, key, position=position)

    def slide(self, slide: Slide) -> Every | int:
        """What a window slides on: so many rows, or every so many ticks or micrometres."""
        match slide.value:
            case Rows(count=step):
                found: Every | int = step
            case Quantity():
                by_space = self.domain(slide, slide.value) is Domain.SPACE
                step = self.length(slide.value) if by_space else self.ticks(slide.value)
                found = Every(DISTANCE if by_space else TICK, step) if step else 0
            case _:
                assert_never(slide.value)
        if step == 0:
            raise LanguageRule("a slide of 0", span=slide.span, hint="a slide is more than 0")
        return found

    def span(self, window: syntax.Window) -> int | None:
        """The range of time in ticks of a window that has no other range (C7)."""
        if len(window.reaches) != 1 or not isinstance(value := window.reaches[0].value, Quantity):
            return None
        return self.ticks(value) or None if self.domain(window.reaches[0], value) is Domain.TIME else None

    def check_together(self, reaches: tuple[Reach, ...]) -> None:
        """Several ranges are a region and a range of time (C28)."""
        for reach in reaches:
            if isinstance(reach.value, Place) and reach.domain is Domain.TIME:
                raise LanguageRule(
                    f"the region {brief(reach.value.name)} is no length of time",
                    span=reach.span,
                    hint="write RATTR SPACE",
                )
        if len(reaches) == 1:
            return
        kinds = [
            "region" if isinstance(r.value, Place) else self.domain(r, r.value).value
            if isinstance(r.value, Quantity) else "rows"
            for r in reaches
        ]  # fmt: skip
        if sorted(kinds) != ["TIME", "region"]:
            raise LanguageRule("ranges that do not go together", span=reaches[1].span, hint=TOGETHER)

    def domain(self, part: Reach | Slide, quantity: Quantity) -> Domain:
        """Whether a quantity is a length of time or a distance; RATTR and SATTR agree with its unit (C19)."""
        own = Domain.TIME if quantity.unit in UNITS else Domain.SPACE if quantity.unit in MICROMETRES else None
        if own is None:
            near = difflib.get_close_matches(quantity.unit, [*UNITS, *MICROMETRES], 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else "units are seconds, minutes, hours, days, m, km and others"
            raise NameProblem(f"no unit is called {brief(quantity.unit)}", span=quantity.unit_span, hint=hint)
        if part.domain is not None and part.domain is not own:
            word = "RATTR" if isinstance(part, Reach) else "SATTR"
            kind = "length of time" if part.domain is Domain.TIME else "distance"
            raise LanguageRule(
                f"{quantity.amount:f} {quantity.unit} is no {kind}", span=part.span, hint=f"write {word} {own.value}"
            )
        return own

    def apart(self, slide: int) -> str | None:
        """The range and the slide of a window by time that does not overlap the next, in the largest unit for both."""
        for word in ("days", "hours", "minutes", "seconds", "milliseconds", "microseconds"):
            counts = [divmod(ticks * self.calendar.length, UNITS[word]) for ticks in (slide - 1, slide)]
            if not any(rest for _, rest in counts):
                return "RANGE '{} {word}', SLIDE '{} {word}'".format(*(count for count, _ in counts), word=word)
        return None

    def ticks(self, quantity: Quantity) -> int:
        """A length of time in ticks."""
        exact = Fraction(quantity.amount) * UNITS[quantity.unit]
        ticks = self.calendar.ticks(int(exact)) if exact.denominator == 1 else None
        if ticks is None:
            raise LanguageRule(
                f"{quantity.amount:f} {quantity.unit} is not a whole number of ticks",
                span=quantity.span,
                hint=f"a tick of this catalog lasts {self.calendar.describe(1)}; use multiples of it",
            )
        return self.short(ticks, quantity.span)

    def length(self, quantity: Quantity) -> int:
        """A distance in micrometres."""
        exact = Fraction(quantity.amount) * MICROMETRES[quantity.unit]
        if exact.denominator != 1:
            raise LanguageRule(
                f"{quantity.amount:f} {quantity.unit} is not a whole number of micrometres",
                span=quantity.span,
                hint="distances are measured in whole micrometres",
            )
        return self.short(int(exact), quantity.span)

    @staticmethod
    def short(amount: int, span: Span) -> int:
        """An amount that 64 bits hold."""
        if amount >= 2**63:
            raise LanguageRule("a length of more than 64 bits", span=span, hint="take a shorter one")
        return amount

    def located(self, window: syntax.Window) -> Position:
        """The position of the source, which a window in space needs."""
        if self.position is None:
            raise LanguageRule(
                f"{self.name} has no places", span=window.span, hint=f"declare `position` of {self.name} in the catalog"
            )
        return self.position

    def places(self, window: syntax.Window, key: tuple[Attribute, ...]) -> Position:
        """The position of the source, for a window that measures the way of one object (C14, C31)."""
        self.check_object(window, key)
        return self.located(window)

    def check_object(self, window: syntax.Window, key: tuple[Attribute, ...]) -> None:
        """The way of several objects together means nothing (C31)."""
        if self.object is not None and not key:
            raise LanguageRule(
                f"a distance across all objects of {self.name}",
                span=window.span,
                hint=f"write [PARTITION BY {self.object} ..], so that each has a way of its own",
            )
