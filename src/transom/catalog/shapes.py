"""What all entries of a catalog have in common: known keys, and values of exactly the type they should have."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator

from transom.catalog.wording import did_you_mean, quoted


class UnknownEntry(ValueError):
    """A key that means nothing where it stands."""

    def __init__(self, key: str, hint: str | None) -> None:
        super().__init__(f"unknown entry {quoted(key)}")
        self.key = key
        self.hint = hint


class Entry(BaseModel):
    """Entries that are all known, with values of exactly the type they should have."""

    # defer_build: one validator for the whole catalog is built when one is read, not one for each of 30 classes
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def expand(cls, data: object) -> object:
        """The entries that a short form stands for."""
        return data

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: object) -> object:
        data = cls.expand(data)
        if isinstance(data, dict):
            names = [str(info.alias or name) for name, info in cls.model_fields.items()]
            for key in data:
                if key not in names:
                    raise UnknownEntry(str(key), did_you_mean(str(key), names))
        return data
