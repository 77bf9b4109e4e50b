"""Read YAML text into plain data, with the location of every key and value.

Only a safe subset of YAML is accepted: one document, no anchors, aliases or tags, no nesting deeper than 30, no
duplicate keys. Scalars follow the core schema of YAML 1.2: `on` and `no` are text, `010` is ten, and an instant
remains text until a reader expects an instant.
"""

from __future__ import annotations

import re

import yaml

from transom.catalog.reading.locations import KeyPath, SourceMap, ValueLocation
from transom.catalog.reading.wording import quoted
from transom.errors import CatalogError, Span

_DEEPEST = 30
_LONGEST_NUMBER = 400
_CLOSING = {"[": "]", "{": "}"}
_LOADER: type[yaml.CSafeLoader] | type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters, line breaks of some programs only (U+0085, U+2028), and text direction marks (U+202E)."""
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_CONSTANTS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: float(f"{sign}inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}


def read_document(text: str, source: str | None = None, document_kind: str = "catalog") -> tuple[object, SourceMap]:
    """Parse YAML text to data and the location of each part; errors call its file `source`, its text `document_kind`.

    Messages call the text `document_kind`.
    """
    text = text.removeprefix("\ufeff")
    name = source or "catalog"
    forbidden = _NOT_TEXT.search(text)
    if forbidden:
        printable = text.encode("utf-8", "replace").decode()
        message = f"the character {forbidden[0]!a} is not allowed in a {document_kind}"
        raise CatalogError(
            message,
            span=Span(*forbidden.span()),
            hint="leave it out, or write it as an escape in double quotes",
            text=printable,
            source=name,
        )
    reader = _DocumentReader(text, document_kind)
    try:
        return reader.read(), reader.source_map
    except CatalogError as error:
        raise error.within(text, name) from None
    except yaml.YAMLError as error:
        raise _yaml_error(error, text, name, document_kind) from None
    finally:
        reader.loader.dispose()


class _DocumentReader:
    """Builds data from YAML parser events, so that it stops at the first unsupported construct."""

    def __init__(self, text: str, document_kind: str) -> None:
        """Start the YAML parser at the beginning of the text; messages call the text `document_kind`."""
        self.text = text
        self.kind = document_kind
        self.loader = _LOADER(text)
        self.source_map = SourceMap(text)

    def _next(self) -> yaml.Event:
        """Return the next event of the YAML parser."""
        event = self.loader.get_event()
        assert event is not None  # noqa: S101 - the last event marks the end of the stream
        return event

    def read(self) -> object:
        """Read the only document of the text; None if the text is empty."""
        self._next()  # the stream starts
        if self.loader.check_event(yaml.StreamEndEvent):
            return None
        self._next()  # the document starts
        data = self._node((), self._next())
        self._next()  # the document ends
        if not self.loader.check_event(yaml.StreamEndEvent):
            mark = self._span(self._next()).start
            raise CatalogError(f"a {self.kind} is one document", span=Span(mark, mark + 3), hint="remove the line ---")
        return data

    def _check_supported(self, event: yaml.Event, span: Span) -> None:
        """Raise CatalogError if a YAML node has an anchor or a tag, or is an alias."""
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise CatalogError(
                f"anchors and aliases are not read in a {self.kind}", span=span, hint="write the value out"
            )
        if getattr(event, "tag", None) is not None:
            raise CatalogError(
                f"tags are not read in a {self.kind}", span=span, hint="leave out the word that begins with !"
            )

    def _node(self, path: KeyPath, event: yaml.Event) -> object:
        """Read the scalar, list or mapping that begins with `event`, and record its location under its key path."""
        span = self._span(event)
        self._check_supported(event, span)
        if len(path) > _DEEPEST:
            raise CatalogError(
                f"nested deeper than {_DEEPEST}", span=span, hint=f"a {self.kind} needs six levels at most"
            )
        if isinstance(event, yaml.ScalarEvent):
            self.source_map.values[path] = ValueLocation(span, self._verbatim_span(event, span))
            return self._scalar(event, span)
        entries = isinstance(event, yaml.MappingStartEvent)
        data: object = self._mapping(path) if entries else self._list(path)
        end = len(self.text[span.start : self._span(self._next()).end].rstrip())
        self.source_map.values[path] = ValueLocation(Span(span.start, span.start + end), entries=entries)
        return data

    def _list(self, path: KeyPath) -> list[object]:
        """Read the items of the YAML list at `path`, up to the end of the list."""
        items: list[object] = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            items.append(self._node((*path, len(items)), self._next()))
        return items

    def _mapping(self, path: KeyPath) -> dict[str, object]:
        """Read the entries of the YAML mapping at `path`, up to its end; raise CatalogError if a name occurs twice."""
        entries: dict[str, object] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            event = self._next()
            span = self._span(event)
            self._check_supported(event, span)
            if not isinstance(event, yaml.ScalarEvent):
                raise CatalogError(
                    "a key is one word", span=Span(span.start, span.start + 1), hint="not a list, and not entries"
                )
            key = str(event.value)
            if key in entries:
                raise CatalogError(f"the key {quoted(key)} is repeated", span=span, hint="keep one of the two")
            entries[key] = self._node((*path, key), self._next())
            self.source_map.keys[(*path, key)] = span
        return entries

    def _scalar(self, event: yaml.ScalarEvent, span: Span) -> object:
        """Convert a scalar to a Python value by the core schema of YAML 1.2; a quoted scalar stays text."""
        text = str(event.value)
        if not event.implicit[0]:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        is_integer = _INTEGER.match(text)
        if not is_integer and not _FLOAT.match(text):
            return text
        if len(text) > _LONGEST_NUMBER:
            raise CatalogError(f"a number of more than {_LONGEST_NUMBER} digits", span=span, hint="write fewer digits")
        return int(text) if is_integer else float(text)

    def _verbatim_span(self, event: yaml.ScalarEvent, span: Span) -> Span | None:
        """Return the span of a scalar without its quotes; None if the YAML text differs from the value.

        That is so if the scalar has escapes or folded lines.
        """
        for quote_length in (0, 1):
            if self.text[span.start + quote_length : span.end - quote_length] == event.value:
                return Span(span.start + quote_length, span.end - quote_length)
        return None

    def _span(self, event: yaml.Event) -> Span:
        """Return the span in the YAML text that an event of the parser covers."""
        start, end = event.start_mark, event.end_mark
        assert start is not None and end is not None  # noqa: S101, PT018 - the parser marks all events
        return Span(start.index, end.index)


def _yaml_error(error: yaml.YAMLError, text: str, source: str, document_kind: str) -> CatalogError:
    """Convert an error of the YAML parser to a CatalogError with a span and a hint."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    start = min(mark.index, max(0, len(text.rstrip()) - 1)) if mark else 0
    detail: str | None = problem
    end = start + 1
    hint = "check the indentation, brackets and quotes here"
    opening = getattr(error, "context_mark", None)
    if mark and opening and opening.line < mark.line and (bracket := text[opening.index]) in _CLOSING:
        hint = f"close this {bracket} with {_CLOSING[bracket]}, or add a comma before line {mark.line + 1}"
        start, end, detail = opening.index, opening.index + 1, None
    elif problem.startswith("mapping values are not allowed"):
        hint = "write site:integer without a space, or put the whole declaration in quotes"
        hint = hint if document_kind == "catalog" else "put a text with a colon in quotes"
    elif "\t" in text[start : start + 1] or "'\\t'" in problem:
        hint, detail = "indent with spaces, not with tabs", None
    return CatalogError(
        "the text is not YAML",
        detail=detail,
        hint=hint,
        span=Span(start, end),
        text=text,
        source=source,
    )
