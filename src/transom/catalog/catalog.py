"""The catalog: all that queries may read (Sec. 3 of the SNEEql document; S39)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transom.catalog.extents import Extent
from transom.catalog.rdf import Rdf
from transom.catalog.reading import Declarations, read_catalog, read_entries
from transom.catalog.wording import did_you_mean, quoted, show
from transom.errors import CatalogError, NameProblem, UsageError
from transom.model.regions import Region
from transom.model.time import Calendar
from transom.model.types import Value

_A_FILE = "give the path of a YAML file"


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that queries may read: how long a tick is, the declared extents and regions, and values of parameters.

    `folder` is what the paths of sources are relative to; `text` and `name` are the file's, for messages.
    """

    calendar: Calendar = field(default_factory=Calendar)
    extents: Mapping[str, Extent] = field(default_factory=dict)
    folder: Path | None = None
    text: str | None = field(default=None, repr=False, compare=False)
    name: str | None = field(default=None, compare=False)
    regions: Mapping[str, Region] = field(default_factory=dict)
    rdf: Rdf = field(default_factory=Rdf)
    parameters: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Catalog:
        """The catalog in a YAML file."""
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"a catalog is loaded from a path, not {show(path)}", hint=_A_FILE)
        place = Path(path)
        try:
            text = place.read_bytes().decode("utf-8-sig")
        except FileNotFoundError as error:
            raise UsageError(f"no catalog file {place}", hint=_A_FILE) from error
        except UnicodeDecodeError as error:
            raise CatalogError("the file is not UTF-8 text", hint="save it as UTF-8", source=str(place)) from error
        except (OSError, ValueError) as error:
            message = f"cannot read the catalog file {quoted(place)}"
            raise UsageError(message, detail=str(error), hint=_A_FILE) from error
        return cls.read(text, name=str(place), folder=place.parent)

    @classmethod
    def read(cls, text: str, *, name: str | None = None, folder: str | os.PathLike[str] | None = None) -> Catalog:
        """The catalog in a YAML text."""
        if not isinstance(text, str):
            raise UsageError(f"a catalog is read from text, not {show(text)}", hint="Catalog.load reads a file")
        text = text.removeprefix("\ufeff")
        place = None if folder is None else Path(folder)
        return cls._declaring(read_catalog(text, name, place), place, text, name)

    @classmethod
    def from_dict(cls, entries: Mapping[str, object], *, folder: str | os.PathLike[str] | None = None) -> Catalog:
        """The catalog in Python's own dictionaries and lists, in the shape of the YAML."""
        place = None if folder is None else Path(folder)
        return cls._declaring(read_entries(entries, place), place)

    @classmethod
    def _declaring(
        cls, read: Declarations, folder: Path | None, text: str | None = None, name: str | None = None
    ) -> Catalog:
        return cls(read.calendar, read.extents, folder, text, name, read.regions, read.rdf, read.parameters)

    @property
    def sources(self) -> dict[str, Extent]:
        """All extents, those of statements included; no two have one name."""
        return {**self.extents, **self.rdf.extents}

    def extent(self, name: str) -> Extent:
        """The extent of that name; NameProblem if there is none."""
        found = self.extents.get(name)
        if found is None:
            raise NameProblem(f"no extent {quoted(name)} in the catalog", hint=did_you_mean(name, self.extents))
        return found

    def region(self, name: str) -> Region:
        """The region of that name; NameProblem if there is none."""
        found = self.regions.get(name)
        if found is None:
            raise NameProblem(f"no region {quoted(name)} in the catalog", hint=did_you_mean(name, self.regions))
        return found

    def _repr_html_(self) -> str:
        from transom.catalog.page import catalog_table

        return catalog_table(self.extents.values(), self.calendar)
