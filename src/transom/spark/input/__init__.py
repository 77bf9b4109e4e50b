"""Rows entering a plan: users' DataFrames, files, lateness, the balance of rows."""
