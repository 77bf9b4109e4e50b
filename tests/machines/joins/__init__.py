"""Machines that join, against their definitions."""
