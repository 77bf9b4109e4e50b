"""What flows: types, schemas, ticks, tagged tuples, windows and bags."""
