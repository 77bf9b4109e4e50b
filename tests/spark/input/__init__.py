"""Rows entering a plan: lateness, rejected rows, clocks, scans."""
