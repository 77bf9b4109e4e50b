"""The base class of all catalog entries: unknown keys are refused, and types are strict."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator

from transom.catalog.reading.wording import did_you_mean, foreign_setting, quoted


class UnknownEntry(ValueError):
    """The error that a catalog entry has a setting that is not known."""

    def __init__(self, key: str, hint: str | None) -> None:
        """Create the error for an unknown key of an entry, with a hint that suggests a known key."""
        super().__init__(f"unknown entry {quoted(key)}")
        self.key = key
        self.hint = hint


class Entry(BaseModel):
    """A catalog entry with known keys and strictly typed values."""

    # defer_build: build one validator when a catalog is read, not one for each of 30 classes at import
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a catalog entry to its full form before it is checked; subclasses override it."""
        return data

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, data: object) -> object:
        """Expand an entry's short form, as pydantic validator; raise UnknownEntry for a key that the entry lacks."""
        data = cls.expand(data)
        if isinstance(data, dict):
            names = [str(info.alias or name) for name, info in cls.model_fields.items()]
            for key in data:
                if key not in names:
                    raise UnknownEntry(str(key), foreign_setting(str(key), names) or did_you_mean(str(key), names))
        return data
