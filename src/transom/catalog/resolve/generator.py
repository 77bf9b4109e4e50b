"""Resolve the settings of generators: one signal per attribute, arrivals and gaps."""

from __future__ import annotations

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.reading.located_values import RATE_HINT, read_text_at, read_value_at
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.ticks import read_interval, read_length, read_rate
from transom.catalog.reading.wording import did_you_mean, quoted
from transom.catalog.schema.entries import (
    MAX_MAGNITUDE,
    ArrivalsEntry,
    ChoiceEntry,
    GapsEntry,
    GenerateEntry,
    SignalEntry,
    WalkEntry,
)
from transom.catalog.sources import (
    ChoiceSignal,
    ClockSignal,
    ConstantSignal,
    Gaps,
    Generator,
    PoissonArrivals,
    RegularArrivals,
    Signal,
    SineSignal,
    SiteSignal,
    WalkSignal,
)
from transom.model.schema import Attribute
from transom.model.time import Calendar
from transom.model.types import Type

_SIGNALS = ("constant", "walk", "sine", "choice", "clock")
_NUMBERS = (Type.INTEGER, Type.FLOAT, Type.DECIMAL)
_TIMES = (Type.INTEGER, Type.TIME, Type.TIMESTAMP)
_MOST_PER_TICK = 100_000
_EXAMPLES = {
    Type.STRING: "{choice: [a, b]}",
    Type.BOOLEAN: "{choice: [true, false]}",
    Type.TIME: "clock",
    Type.TIMESTAMP: "clock",
}


def read_generator(extent: Extent, entry: GenerateEntry, at: Location, calendar: Calendar) -> Generator:
    """Read the `generate` entry of an extent, a signal for each attribute; raise EntryError if one is missing.

    Sites, and an attribute called time, have a default.
    """
    attributes_at = at.then("attributes")
    for name in entry.attributes:
        if name not in extent.names:
            raise EntryError(
                f"no attribute {quoted(name)}", attributes_at.then(name).at_key(), did_you_mean(name, extent.names)
            )
    signals = tuple(_signal(extent, attribute, entry, attributes_at, calendar) for attribute in extent.schema)
    arrivals = None
    if extent.kind is ExtentKind.SENSED:
        if entry.arrivals is not None:
            hint = "a sensed extent is read every so often at each of its sites"
            raise EntryError("a sensed extent has no arrivals", at.then("arrivals").at_key(), hint)
        if not extent.sites:
            raise EntryError(
                "readings cannot be generated without sites", at.at_key(), "add sites: [1, 2] to the extent"
            )
    elif entry.arrivals is None:
        raise EntryError(
            "arrivals is missing", at.at_key(), "add arrivals: {poisson: 12 per min} or arrivals: {every: 5 s}"
        )
    else:
        arrivals = _arrivals(entry.arrivals, at.then("arrivals"), calendar)
    return Generator(entry.seed, signals, arrivals, _gaps(entry.gaps, at.then("gaps"), calendar))


def _signal(extent: Extent, attribute: Attribute, entry: GenerateEntry, at: Location, calendar: Calendar) -> Signal:
    """Return an attribute's declared signal (value generator), or the default for the site or time attribute."""
    declared = entry.attributes.get(attribute.name)
    is_site = extent.kind is ExtentKind.SENSED and attribute.name == extent.site
    if declared is None:
        if is_site:
            return SiteSignal()
        if attribute.name == "time" and attribute.type in _TIMES:
            return ClockSignal()
        example = _EXAMPLES.get(attribute.type, "{walk: {start: 20, step: 1}}")
        raise EntryError(
            f"nothing says how to generate {attribute.name}", at.at_key(), f"add {attribute.name}: {example}"
        )
    signal_at = at.then(attribute.name)
    if is_site:
        hint = f"leave out {attribute.name}"
        raise EntryError(f"{attribute.name} is filled with the sites of the extent", signal_at.at_key(), hint)
    return _declared_signal(attribute, declared, signal_at, calendar)


def _declared_signal(attribute: Attribute, entry: SignalEntry, at: Location, calendar: Calendar) -> Signal:
    """Read the entry of a signal; raise EntryError unless it has one key that fits the type of the attribute."""
    keys = sorted(entry.model_fields_set)
    if len(keys) != 1:
        raise EntryError(
            f"expected one of {', '.join(_SIGNALS)}, not {len(keys)} of them", at, "write one for each attribute"
        )
    signal_at = at.then(keys[0])
    if entry.walk is not None:
        _check_type(attribute, _NUMBERS, "a walk", signal_at)
        return _walk(entry.walk, signal_at)
    if entry.sine is not None:
        sine = entry.sine
        _check_type(attribute, _NUMBERS, "a sine", signal_at)
        period = read_text_at(read_interval, sine.period, signal_at.then("period"), calendar)
        return SineSignal(sine.mean, sine.amplitude, period, sine.noise)
    if entry.choice is not None:
        return _choice(entry.choice, attribute, signal_at)
    if entry.clock is not None:
        _check_type(attribute, _TIMES, "a clock", signal_at)
        return ClockSignal()
    if keys != ["constant"]:
        raise EntryError(
            f"{keys[0]} is empty", signal_at.at_key(), f"write what the {keys[0]} is made of, or leave it out"
        )
    return ConstantSignal(read_value_at(entry.constant, attribute, signal_at))


def _check_type(attribute: Attribute, types: tuple[Type, ...], signal: str, at: Location) -> None:
    """Raise EntryError unless an attribute has one of the types that a signal, such as `a walk`, can generate."""
    if attribute.type not in types:
        names = ", ".join(map(str, types))
        hint = f"write {_EXAMPLES.get(attribute.type, '{walk: {start: 20, step: 1}}')}"
        raise EntryError(f"{attribute.name} is {attribute.type}, {signal} makes {names}", at.at_key(), hint)


def _walk(entry: WalkEntry, at: Location) -> WalkSignal:
    """Read the entry of a random-walk signal; raise EntryError unless min <= start <= max."""
    low, high = entry.low, entry.high
    if low is not None and high is not None and low > high:
        raise EntryError("min is larger than max", at.then("min"), "swap the two")
    if (low is not None and entry.start < low) or (high is not None and entry.start > high):
        raise EntryError("start is not between min and max", at.then("start"), "a walk stays between the two")
    return WalkSignal(entry.start, entry.step, low, high)


def _choice(entry: ChoiceEntry, attribute: Attribute, at: Location) -> ChoiceSignal:
    """Read the entry of a signal that draws weighted values; raise EntryError if values or weights are invalid."""
    values = tuple(
        read_value_at(value, attribute, at.then("values", index)) for index, value in enumerate(entry.values)
    )
    if entry.weights is None:
        return ChoiceSignal(values, (1.0,) * len(values))
    weights_at = at.then("weights")
    if len(entry.weights) != len(values):
        raise EntryError(
            f"{len(entry.weights)} weights for {len(values)} values", weights_at, "write one weight for each value"
        )
    for index, weight in enumerate(entry.weights):
        if not 0 <= weight <= MAX_MAGNITUDE:
            raise EntryError("a weight is 0 or more", weights_at.then(index), "write 0 for a value that never occurs")
    if not sum(entry.weights) > 0:
        raise EntryError("all weights are 0", weights_at, "write at least one that is more than 0")
    return ChoiceSignal(values, tuple(entry.weights))


def _arrivals(entry: ArrivalsEntry, at: Location, calendar: Calendar) -> PoissonArrivals | RegularArrivals:
    """Read how the generated rows of a pushed stream arrive: by a Poisson process or at a fixed interval."""
    if (entry.poisson is None) == (entry.every is None):
        raise EntryError("arrivals take either poisson or every", at, "write arrivals: {poisson: 12 per min}")
    if entry.poisson is not None:
        rate = read_text_at(read_rate, entry.poisson, at.then("poisson"), calendar, RATE_HINT)
        if rate.rows > _MOST_PER_TICK * rate.ticks:
            raise EntryError(
                f"more than {_MOST_PER_TICK} rows per tick", at.then("poisson"), "write fewer rows, or a longer time"
            )
        return PoissonArrivals(rate)
    return RegularArrivals(read_text_at(read_interval, entry.every or "", at.then("every"), calendar))


def _gaps(entry: GapsEntry, at: Location, calendar: Calendar) -> Gaps:
    """Read a generator's gaps: the chance that a row is left out, and time spans without rows; none may be empty."""
    spans: list[tuple[int, int]] = []
    for index, span in enumerate(entry.spans):
        span_at = at.then("spans", index)
        start = read_text_at(read_length, span.start, span_at.then("from"), calendar)
        end = read_text_at(read_length, span.end, span_at.then("to"), calendar)
        if end <= start:
            raise EntryError("a span cannot end before it has begun", span_at.then("to"), "write a later end")
        spans.append((start, end))
    return Gaps(entry.chance, tuple(spans))
