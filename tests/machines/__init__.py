"""Machines, driven without Spark and held equal to the reference engine."""
