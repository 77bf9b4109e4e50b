"""Machines that build windows: by time, rows, distance and key."""
