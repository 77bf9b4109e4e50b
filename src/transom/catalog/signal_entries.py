"""Settings of generators: one signal per attribute, arrivals and gaps."""

from __future__ import annotations

from transom.catalog.checked import RATE, typed, worded
from transom.catalog.entries import (
    LARGEST,
    ArrivalsEntry,
    ChoiceEntry,
    GapsEntry,
    GenerateEntry,
    SignalEntry,
    WalkEntry,
)
from transom.catalog.extents import Extent, Kind
from transom.catalog.places import At, Misfit
from transom.catalog.sources import Choice, Clock, Constant, Gaps, Generate, Poisson, Regular, Signal, Sine, Site, Walk
from transom.catalog.ticks import read_interval, read_length, read_rate
from transom.catalog.wording import did_you_mean, quoted
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


def read_generate(extent: Extent, entry: GenerateEntry, at: At, calendar: Calendar) -> Generate:
    """The generator that an entry describes; every attribute has a signal, and nothing else has."""
    here = at.then("attributes")
    for name in entry.attributes:
        if name not in extent.names:
            raise Misfit(f"no attribute {quoted(name)}", here.then(name).at_key(), did_you_mean(name, extent.names))
    signals = tuple(_signal(extent, attribute, entry, here, calendar) for attribute in extent.schema)
    arrivals = None
    if extent.kind is Kind.SENSED:
        if entry.arrivals is not None:
            hint = "a sensed extent is read every so often at each of its sites"
            raise Misfit("a sensed extent has no arrivals", at.then("arrivals").at_key(), hint)
        if not extent.sites:
            raise Misfit("readings cannot be generated without sites", at.at_key(), "add sites: [1, 2] to the extent")
    elif entry.arrivals is None:
        raise Misfit(
            "arrivals is missing", at.at_key(), "add arrivals: {poisson: 12 per min} or arrivals: {every: 5 s}"
        )
    else:
        arrivals = _arrivals(entry.arrivals, at.then("arrivals"), calendar)
    return Generate(entry.seed, signals, arrivals, _gaps(entry.gaps, at.then("gaps"), calendar))


def _signal(extent: Extent, attribute: Attribute, entry: GenerateEntry, at: At, calendar: Calendar) -> Signal:
    given = entry.attributes.get(attribute.name)
    is_site = extent.kind is Kind.SENSED and attribute.name == extent.site
    if given is None:
        if is_site:
            return Site()
        if attribute.name == "time" and attribute.type in _TIMES:
            return Clock()
        example = _EXAMPLES.get(attribute.type, "{walk: {start: 20, step: 1}}")
        raise Misfit(f"nothing says how to generate {attribute.name}", at.at_key(), f"add {attribute.name}: {example}")
    here = at.then(attribute.name)
    if is_site:
        hint = f"leave out {attribute.name}"
        raise Misfit(f"{attribute.name} is filled with the sites of the extent", here.at_key(), hint)
    return _given_signal(attribute, given, here, calendar)


def _given_signal(attribute: Attribute, entry: SignalEntry, at: At, calendar: Calendar) -> Signal:
    given = sorted(entry.model_fields_set)
    if len(given) != 1:
        raise Misfit(
            f"expected one of {', '.join(_SIGNALS)}, not {len(given)} of them", at, "write one for each attribute"
        )
    here = at.then(given[0])
    if entry.walk is not None:
        _takes(attribute, _NUMBERS, "a walk", here)
        return _walk(entry.walk, here)
    if entry.sine is not None:
        wave = entry.sine
        _takes(attribute, _NUMBERS, "a sine", here)
        period = worded(read_interval, wave.period, here.then("period"), calendar)
        return Sine(wave.mean, wave.amplitude, period, wave.noise)
    if entry.choice is not None:
        return _choice(entry.choice, attribute, here)
    if entry.clock is not None:
        _takes(attribute, _TIMES, "a clock", here)
        return Clock()
    if given != ["constant"]:
        raise Misfit(f"{given[0]} is empty", here.at_key(), f"write what the {given[0]} is made of, or leave it out")
    return Constant(typed(entry.constant, attribute, here))


def _takes(attribute: Attribute, types: tuple[Type, ...], what: str, at: At) -> None:
    if attribute.type not in types:
        names = ", ".join(map(str, types))
        hint = f"write {_EXAMPLES.get(attribute.type, '{walk: {start: 20, step: 1}}')}"
        raise Misfit(f"{attribute.name} is {attribute.type}, {what} makes {names}", at.at_key(), hint)


def _walk(entry: WalkEntry, at: At) -> Walk:
    low, high = entry.low, entry.high
    if low is not None and high is not None and low > high:
        raise Misfit("min is larger than max", at.then("min"), "swap the two")
    if (low is not None and entry.start < low) or (high is not None and entry.start > high):
        raise Misfit("start lies outside min and max", at.then("start"), "a walk stays between the two")
    return Walk(entry.start, entry.step, low, high)


def _choice(entry: ChoiceEntry, attribute: Attribute, at: At) -> Choice:
    values = tuple(typed(v, attribute, at.then("values", place)) for place, v in enumerate(entry.values))
    if entry.weights is None:
        return Choice(values, (1.0,) * len(values))
    here = at.then("weights")
    if len(entry.weights) != len(values):
        raise Misfit(f"{len(entry.weights)} weights for {len(values)} values", here, "write one weight for each value")
    for place, weight in enumerate(entry.weights):
        if not 0 <= weight <= LARGEST:
            raise Misfit("a weight is 0 or more", here.then(place), "a value of weight 0 never comes")
    if not sum(entry.weights) > 0:
        raise Misfit("all weights are 0", here, "write at least one that is more than 0")
    return Choice(values, tuple(entry.weights))


def _arrivals(entry: ArrivalsEntry, at: At, calendar: Calendar) -> Poisson | Regular:
    if (entry.poisson is None) == (entry.every is None):
        raise Misfit("arrivals take either poisson or every", at, "write arrivals: {poisson: 12 per min}")
    if entry.poisson is not None:
        rate = worded(read_rate, entry.poisson, at.then("poisson"), calendar, RATE)
        if rate.rows > _MOST_PER_TICK * rate.ticks:
            raise Misfit(
                f"more than {_MOST_PER_TICK} rows per tick", at.then("poisson"), "write fewer rows, or a longer time"
            )
        return Poisson(rate)
    return Regular(worded(read_interval, entry.every or "", at.then("every"), calendar))


def _gaps(entry: GapsEntry, at: At, calendar: Calendar) -> Gaps:
    spans: list[tuple[int, int]] = []
    for place, span in enumerate(entry.spans):
        here = at.then("spans", place)
        start = worded(read_length, span.start, here.then("from"), calendar)
        end = worded(read_length, span.end, here.then("to"), calendar)
        if end <= start:
            raise Misfit("a span ends after it starts", here.then("to"), "write a later end")
        spans.append((start, end))
    return Gaps(entry.chance, tuple(spans))
