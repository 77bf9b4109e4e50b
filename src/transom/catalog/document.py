"""YAML text to plain data, with the place of every key and value.

Only the safe part of YAML is read, and less of it: one document, no anchors, aliases or tags, no nesting deeper than
30, no key twice. Words are read as YAML 1.2 does (its core schema): `on` and `no` are text, `010` is ten, and an
instant stays text until something that expects an instant reads it.
"""

from __future__ import annotations

import re

import yaml

from transom.catalog.places import Path, Places, Spot
from transom.catalog.wording import quoted
from transom.errors import CatalogError, Span

_DEEPEST = 30
_LONGEST_NUMBER = 400
_LOADER: type[yaml.CSafeLoader] | type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOT_TEXT = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What is no text, ends a line in some programs only (U+0085, U+2028), or turns the order of what is shown (U+202E)."""
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_WORDS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: float(f"{sign}inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}


def read_document(text: str, source: str | None = None) -> tuple[object, Places]:
    """The data of a YAML text and the places of its parts; CatalogError if it is none."""
    text = text.removeprefix("\ufeff")
    name = source or "catalog"
    strange = _NOT_TEXT.search(text)
    if strange:
        printable = text.encode("utf-8", "replace").decode()
        message = f"the character {strange[0]!a} cannot stand in a catalog"
        raise CatalogError(
            message,
            span=Span(*strange.span()),
            hint="leave it out, or write it as an escape in double quotes",
            text=printable,
            source=name,
        )
    reader = _Reader(text)
    try:
        return reader.read(), reader.places
    except CatalogError as error:
        raise error.within(text, name) from None
    except yaml.YAMLError as error:
        raise _yaml_error(error, text, name) from None
    finally:
        reader.loader.dispose()


class _Reader:
    """Builds data from the events of YAML's parser, so that it can stop at the first thing it does not take."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.loader = _LOADER(text)
        self.places = Places(text)

    def _next(self) -> yaml.Event:
        event = self.loader.get_event()
        assert event is not None  # noqa: S101 - the stream ends with an event of its own
        return event

    def read(self) -> object:
        """The one document of the text."""
        self._next()  # the stream starts
        if self.loader.check_event(yaml.StreamEndEvent):
            return None
        self._next()  # the document starts
        data = self._node((), self._next())
        self._next()  # the document ends
        if not self.loader.check_event(yaml.StreamEndEvent):
            mark = self._span(self._next()).start
            raise CatalogError("a catalog is one document", span=Span(mark, mark + 3), hint="remove the line ---")
        return data

    def _refuse(self, event: yaml.Event, span: Span) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise CatalogError("anchors and aliases are not read in a catalog", span=span, hint="write the value out")
        if getattr(event, "tag", None) is not None:
            raise CatalogError(
                "tags are not read in a catalog", span=span, hint="leave out the word that begins with !"
            )

    def _node(self, path: Path, event: yaml.Event) -> object:
        span = self._span(event)
        self._refuse(event, span)
        if len(path) > _DEEPEST:
            raise CatalogError(f"nested deeper than {_DEEPEST}", span=span, hint="a catalog needs six levels at most")
        if isinstance(event, yaml.ScalarEvent):
            self.places.values[path] = Spot(span, self._literal(event, span))
            return self._scalar(event, span)
        entries = isinstance(event, yaml.MappingStartEvent)
        data: object = self._mapping(path) if entries else self._list(path)
        end = len(self.text[span.start : self._span(self._next()).end].rstrip())
        self.places.values[path] = Spot(Span(span.start, span.start + end), entries=entries)
        return data

    def _list(self, path: Path) -> list[object]:
        items: list[object] = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            items.append(self._node((*path, len(items)), self._next()))
        return items

    def _mapping(self, path: Path) -> dict[str, object]:
        entries: dict[str, object] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            event = self._next()
            span = self._span(event)
            self._refuse(event, span)
            if not isinstance(event, yaml.ScalarEvent):
                raise CatalogError(
                    "a key is one word", span=Span(span.start, span.start + 1), hint="not a list, and not entries"
                )
            key = str(event.value)
            if key in entries:
                raise CatalogError(f"the key {quoted(key)} stands here twice", span=span, hint="keep one of the two")
            entries[key] = self._node((*path, key), self._next())
            self.places.keys[(*path, key)] = span
        return entries

    def _scalar(self, event: yaml.ScalarEvent, span: Span) -> object:
        """The value of a plain word; a quoted one is text."""
        words = str(event.value)
        if not event.implicit[0]:
            return words
        if words in _WORDS:
            return _WORDS[words]
        is_integer = _INTEGER.match(words)
        if not is_integer and not _FLOAT.match(words):
            return words
        if len(words) > _LONGEST_NUMBER:
            raise CatalogError(f"a number of more than {_LONGEST_NUMBER} digits", span=span, hint="write fewer digits")
        return int(words) if is_integer else float(words)

    def _literal(self, event: yaml.ScalarEvent, span: Span) -> Span | None:
        """Where the value's characters stand as they are: inside the quotes, and only without escapes or folds."""
        for skip in (0, 1):
            if self.text[span.start + skip : span.end - skip] == event.value:
                return Span(span.start + skip, span.end - skip)
        return None

    def _span(self, event: yaml.Event) -> Span:
        start, end = event.start_mark, event.end_mark
        assert start is not None and end is not None  # noqa: S101, PT018 - the parser marks all events
        return Span(start.index, end.index)


def _yaml_error(error: yaml.YAMLError, text: str, source: str) -> CatalogError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    start = min(mark.index, max(0, len(text.rstrip()) - 1)) if mark else 0
    hint = "look at the indentation, brackets and quotes around this place"
    if problem.startswith("mapping values are not allowed"):
        hint = "write site:integer without a space, or put the whole declaration in quotes"
    elif "\t" in text[start : start + 1] or "'\\t'" in problem:
        hint = "indent with spaces, not with tabs"
    return CatalogError(
        "the text is not YAML",
        detail=problem,
        hint=hint,
        span=Span(start, start + 1),
        text=text,
        source=source,
    )
