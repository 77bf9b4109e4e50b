"""Streams of statements that are made of rows, or by a query: their entries in a catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping

from transom.catalog.entries import RdfEntry, TemplateEntry
from transom.catalog.extents import Extent, Kind
from transom.catalog.places import At, Misfit
from transom.catalog.rdf import StatementTemplate
from transom.catalog.wording import did_you_mean, quoted, show

_COLUMN = re.compile(r"\{([^{}]*)\}")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_OTHERS = ("files", "kafka", "format", "time", "rate", "lateness", "idle_after", "subjects")


def check_composed(entry: RdfEntry, at: At) -> None:
    """A stream that is made of other streams has no source, no rate and no lateness of its own."""
    made = [key for key in ("query", "template") if getattr(entry, key) is not None]
    if not made:
        return
    if len(made) > 1:
        raise Misfit(
            "a stream has either a query or a template", at.then("template").at_key(), "leave out one of the two"
        )
    for key in _OTHERS:
        if getattr(entry, key) is not None:
            hint = "it follows from the streams that it is made of; leave it out"
            raise Misfit(f"a stream with a {made[0]} has no {key}", at.then(key).at_key(), hint)
    if entry.query is not None and (not entry.query or _CONTROL.search(entry.query)):
        raise Misfit(f"{quoted(entry.query)} is not a path", at.then("query"), "write for example hot.rq")


def read_template(
    entry: TemplateEntry | None, at: At, prefixes: Mapping[str, str], extents: Mapping[str, Extent]
) -> StatementTemplate | None:
    """The template that an entry describes; Misfit where it names an extent or a column that is not there."""
    if entry is None:
        return None
    extent = extents.get(entry.extent)
    if extent is None:
        raise Misfit(f"no extent {quoted(entry.extent)}", at.then("extent"), did_you_mean(entry.extent, extents))
    if extent.kind is Kind.STORED:
        hint = "statements of a stream are made of a sensed or pushed extent; a table has no instants"
        raise Misfit(f"{quoted(entry.extent)} is a stored table", at.then("extent"), hint)
    here = at.then("subject")
    columns = tuple(_COLUMN.findall(entry.subject))
    for name in columns:
        _known(name, extent, here)
    parts = tuple(_COLUMN.split(_full(entry.subject, prefixes))[::2])
    if not _ABSOLUTE.fullmatch("x".join(parts)):
        raise Misfit(
            f"{show(entry.subject)} is no pattern of an IRI", here, "write for example http://example.org/{id}"
        )
    if not entry.predicates:
        raise Misfit("a template needs a predicate", at.then("predicates"), f"write {extent.names[0]}: IRI")
    predicates = []
    for name, written in entry.predicates.items():
        place = at.then("predicates", name)
        _known(name, extent, place.at_key())
        iri = _full(written, prefixes)
        if not _ABSOLUTE.fullmatch(iri):
            raise Misfit(f"{show(written)} is no absolute IRI", place, "write for example http://example.org/speed")
        predicates.append((name, iri))
    return StatementTemplate(entry.extent, parts, columns, tuple(predicates))


def _known(name: str, extent: Extent, at: At) -> None:
    if name not in extent.names:
        raise Misfit(f"{extent.name} has no attribute {quoted(name)}", at, did_you_mean(name, extent.names))


def _full(written: str, prefixes: Mapping[str, str]) -> str:
    """An IRI, or one with a prefix of the catalog."""
    prefix, colon, local = written.partition(":")
    return prefixes[prefix] + local if colon and prefix in prefixes else written
