"""Machines that build windows, against their definitions."""
