"""Devices and servers that the collector acquires rows from."""
