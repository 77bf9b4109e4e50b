"""Names to IRIs: prefixes, BASE, and relative references (RFC 3986, section 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from transom.errors import NameProblem
from transom.languages.sparql import syntax, terms
from transom.model.rdf.terms import IRI

_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Names:
    """What names mean at the end of a prologue."""

    prefixes: Mapping[str, str]
    base: str | None = None

    @classmethod
    def of(cls, query: syntax.Query, prefixes: Mapping[str, str], base: str | None = None) -> Names:
        """The names of a query; its own prefixes come before those that are declared elsewhere."""
        known = dict(prefixes)
        for entry in query.prologue:
            if isinstance(entry, syntax.Base):
                base = resolve(entry.iri, base)
            else:
                known[entry.name] = resolve(entry.iri, base)
        return cls(known, base)

    def iri(self, name: terms.IriName) -> IRI:
        """The IRI that a name stands for."""
        if isinstance(name, terms.Iri):
            return IRI(resolve(name.text, self.base))
        if name.prefix not in self.prefixes:
            raise NameProblem(f"no prefix is called {name.prefix}:", span=name.span)
        return IRI(self.prefixes[name.prefix] + name.local)


def resolve(reference: str, base: str | None) -> str:
    """A reference seen from a base; without a base, or with a scheme of its own, it stays as it is."""
    scheme, authority, path, query, fragment = _split(reference)
    if base is None or scheme is not None:
        return reference
    base_scheme, base_authority, base_path, base_query, _ = _split(base)
    if authority is not None:
        path = _without_dots(path)
    else:
        if not path:
            path = base_path
            query = base_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            above = base_path[: base_path.rfind("/") + 1]
            path = _without_dots((above or "/" if base_authority is not None else above) + path)
        authority = base_authority
    return _join(base_scheme, authority, path, query, fragment)


def _split(text: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    found = _PARTS.fullmatch(text)
    if found is None:  # every text has these parts
        return None, None, text, None, None
    return found[1], found[2], found[3], found[4], found[5]


def _join(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    return "".join(
        (
            "" if scheme is None else f"{scheme}:",
            "" if authority is None else f"//{authority}",
            path,
            "" if query is None else f"?{query}",
            "" if fragment is None else f"#{fragment}",
        )
    )


def _without_dots(path: str) -> str:
    """A path in which `.` and `..` are followed."""
    if "." not in path:
        return path
    kept: list[str] = []
    steps = path.split("/")
    for place, step in enumerate(steps):
        last = place == len(steps) - 1
        if step == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif step != ".":
            kept.append(step)
        if last and step in (".", ".."):
            kept.append("")
    return "/".join(kept)
