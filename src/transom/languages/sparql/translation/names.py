"""Resolves names to IRIs: prefixes, BASE, and relative references (RFC 3986, section 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from transom.errors import NameProblem
from transom.languages.sparql import syntax, terms
from transom.model.rdf.terms import IRI

_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NameResolver:
    """The prefixes and the base IRI in effect after a prologue."""

    prefixes: Mapping[str, str]
    base: str | None = None

    @classmethod
    def of(cls, query: syntax.SparqlQuery, prefixes: Mapping[str, str], base: str | None = None) -> NameResolver:
        """Return the resolver of a query's IRIs; PREFIX and BASE of the query override `prefixes` and `base`."""
        declared = dict(prefixes)
        for entry in query.prologue:
            if isinstance(entry, syntax.Base):
                base = resolve_iri(entry.iri, base)
            else:
                declared[entry.name] = resolve_iri(entry.iri, base)
        return cls(declared, base)

    def iri(self, name: terms.IriName) -> IRI:
        """Resolve an IRI or prefixed name to an absolute IRI; raises NameProblem if the prefix is unknown."""
        if isinstance(name, terms.Iri):
            return IRI(resolve_iri(name.text, self.base))
        if name.prefix not in self.prefixes:
            raise NameProblem(f"no prefix is called {name.prefix}:", span=name.span)
        return IRI(self.prefixes[name.prefix] + name.local)


def resolve_iri(reference: str, base: str | None) -> str:
    """Resolve a relative IRI against `base`; an absolute IRI, or any IRI without a base, is returned unchanged."""
    scheme, authority, path, query, fragment = _split(reference)
    if base is None or scheme is not None:
        return reference
    base_scheme, base_authority, base_path, base_query, _ = _split(base)
    if authority is not None:
        path = _remove_dot_segments(path)
    else:
        if not path:
            path = base_path
            query = base_query if query is None else query
        elif path.startswith("/"):
            path = _remove_dot_segments(path)
        else:
            above = base_path[: base_path.rfind("/") + 1]
            path = _remove_dot_segments((above or "/" if base_authority is not None else above) + path)
        authority = base_authority
    return _join(base_scheme, authority, path, query, fragment)


def _split(text: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    """Split an IRI into scheme, authority, path, query and fragment; a part that is missing is None."""
    match = _PARTS.fullmatch(text)
    if match is None:  # never happens: the pattern matches every text
        return None, None, text, None, None
    return match[1], match[2], match[3], match[4], match[5]


def _join(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    """Join scheme, authority, path, query and fragment to an IRI, without those that are None."""
    return "".join(
        (
            "" if scheme is None else f"{scheme}:",
            "" if authority is None else f"//{authority}",
            path,
            "" if query is None else f"?{query}",
            "" if fragment is None else f"#{fragment}",
        )
    )


def _remove_dot_segments(path: str) -> str:
    """Resolve the segments `.` and `..` of an IRI path (RFC 3986, section 5.2.4)."""
    if "." not in path:
        return path
    segments: list[str] = []
    steps = path.split("/")
    for index, segment in enumerate(steps):
        last = index == len(steps) - 1
        if segment == "..":
            if len(segments) > 1 or (segments and segments[0]):
                segments.pop()
        elif segment != ".":
            segments.append(segment)
        if last and segment in (".", ".."):
            segments.append("")
    return "/".join(segments)
