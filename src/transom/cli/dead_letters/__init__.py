"""The commands for messages that could not be used: list them, send them again, delete the old ones."""
