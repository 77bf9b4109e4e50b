"""Commands and options for a query that replaces another one."""
