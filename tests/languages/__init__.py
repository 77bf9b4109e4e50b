"""The front end of SNEEql: text, syntax, algebra, and the messages in between."""
