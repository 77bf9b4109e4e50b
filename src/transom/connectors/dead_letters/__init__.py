"""Dead letters of topics and logs: list them, send them again, delete the old ones."""
