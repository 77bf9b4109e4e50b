"""Machines that join two or more inputs."""
