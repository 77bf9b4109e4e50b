"""The catalog: everything that queries can read (Sec. 3 of the SNEEql document; S39)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transom.catalog.extent import Extent
from transom.catalog.rdf import Rdf
from transom.catalog.reading.catalog import Declarations, read_catalog, read_entries
from transom.catalog.reading.wording import display_value, extent_line, or_declare, quoted, region_line
from transom.errors import CatalogError, NameProblem, UsageError
from transom.model.geometry.regions import Region
from transom.model.time import Calendar
from transom.model.types import Value

_A_FILE = "give the path of a YAML file"


_MAX_NAMES = 8
"""The most extents that the `repr` of a catalog names."""


@dataclass(frozen=True, slots=True, repr=False)
class Catalog:
    """Everything that queries can read: the length of a tick, extents, regions, and values of parameters.

    Paths of sources are relative to `folder`. Error messages use the `text` and the `name` of the file.

    Examples:
        >>> import transom
        >>> catalog = transom.Catalog.from_dict({"extents": {"a": "pushed (x:integer)", "t": "stored (y:integer)"}})
        >>> catalog
        <Catalog: 2 extents (a, t)>
        >>> catalog.calendar.length  # microseconds per tick
        1000000
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
        """Load a catalog from a YAML file; raise UsageError if it cannot be read, CatalogError if it is invalid.

        Args:
            path: The file. Paths in the catalog are relative to its folder.

        Examples:
            >>> transom.Catalog.load("examples/roads/catalog.yaml")
            <Catalog examples/roads/catalog.yaml: 3 extents (road, traffic, tempClass)>
        """
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"a catalog is loaded from a path, not {display_value(path)}", hint=_A_FILE)
        file = Path(path)
        try:
            text = file.read_bytes().decode("utf-8-sig")
        except FileNotFoundError as error:
            hint = "give the path of a YAML file, or draft one for your rows: transom init data.csv"
            raise UsageError(f"no catalog file {file}", hint=hint) from error
        except UnicodeDecodeError as error:
            raise CatalogError("the file is not UTF-8 text", hint="save it as UTF-8", source=str(file)) from error
        except (OSError, ValueError) as error:
            message = f"cannot read the catalog file {quoted(file)}"
            raise UsageError(message, detail=str(error), hint=_A_FILE) from error
        return cls.read(text, name=str(file), folder=file.parent)

    @classmethod
    def read(cls, text: str, *, name: str | None = None, folder: str | os.PathLike[str] | None = None) -> Catalog:
        """Read a catalog from YAML text; raise CatalogError if it is invalid.

        Args:
            text: The YAML text.
            name: The name of the text in messages.
            folder: The folder to which paths in the catalog are relative; by default the current one.

        Examples:
            >>> transom.Catalog.read("extents: {a: pushed (x:integer)}")
            <Catalog: 1 extent (a)>
        """
        if not isinstance(text, str):
            raise UsageError(
                f"a catalog is read from text, not {display_value(text)}", hint="Catalog.load reads a file"
            )
        text = text.removeprefix("\ufeff")
        base = None if folder is None else Path(folder)
        return cls._from_declarations(read_catalog(text, name, base), base, text, name)

    @classmethod
    def from_dict(cls, entries: Mapping[str, object], *, folder: str | os.PathLike[str] | None = None) -> Catalog:
        """Read a catalog from a dictionary with the entries of its YAML; raise CatalogError if it is invalid.

        Args:
            entries: The entries of the catalog.
            folder: The folder to which paths in the catalog are relative; by default the current one.

        Examples:
            >>> transom.Catalog.from_dict({"tick": "1 ms", "extents": {"a": "pushed (x:integer)"}})
            <Catalog: 1 extent (a)>
        """
        base = None if folder is None else Path(folder)
        return cls._from_declarations(read_entries(entries, base), base)

    @classmethod
    def _from_declarations(
        cls, declarations: Declarations, catalog_folder: Path | None, text: str | None = None, name: str | None = None
    ) -> Catalog:
        """Create the catalog from its checked declarations; error messages quote the file's `text` and `name`."""
        calendar, extents, regions = declarations.calendar, declarations.extents, declarations.regions
        return cls(calendar, extents, catalog_folder, text, name, regions, declarations.rdf, declarations.parameters)

    def __repr__(self) -> str:
        """Return a short text with the catalog's file and the names of its first extents."""
        names = list(self.sources)
        shown = ", ".join([*names[:_MAX_NAMES], *(["..."] if len(names) > _MAX_NAMES else [])])
        file = f" {self.name}" if self.name else ""
        return f"<Catalog{file}: {len(names)} extent{'' if len(names) == 1 else 's'} ({shown})>"

    @property
    def sources(self) -> dict[str, Extent]:
        """All extents (sources and tables) by name: those of rows, RDF streams and stored graphs."""
        return {**self.extents, **self.rdf.extents}

    def extent(self, name: str) -> Extent:
        """Return the extent (source or table) with this name; raise NameProblem, with a suggestion, if there is none.

        Examples:
            >>> catalog.extent("a").declaration
            'a: pushed (x:integer)'
        """
        extent = self.extents.get(name)
        if extent is None:
            hint = or_declare(name, self.extents, extent_line(name))
            raise NameProblem(f"no extent {quoted(name)} in the catalog", hint=hint)
        return extent

    def region(self, name: str) -> Region:
        """Return the region with this name; raise NameProblem, with a suggestion, if there is none.

        Examples:
            >>> square = {"polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}
            >>> city = {"extents": {"a": "pushed (x:integer)"}, "regions": {"Square": square}}
            >>> transom.Catalog.from_dict(city).region("Square").name
            'Square'
        """
        region = self.regions.get(name)
        if region is None:
            hint = or_declare(name, self.regions, region_line(name))
            raise NameProblem(f"no region {quoted(name)} in the catalog", hint=hint)
        return region

    def _repr_html_(self) -> str:
        """Return an HTML table of the catalog's extents of rows, which notebooks display."""
        from transom.catalog.page import catalog_table

        return catalog_table(self.extents.values(), self.calendar)
