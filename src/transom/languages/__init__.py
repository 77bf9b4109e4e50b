"""Text to syntax to algebra, one folder per language; what two languages share is in `sql`."""
