"""Servers with TLS, and secrets."""
