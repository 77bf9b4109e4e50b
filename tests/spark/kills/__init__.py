"""Queries killed with SIGKILL and restarted."""
