"""The data model: types, schemas, ticks, tagged tuples, windows and bags."""
