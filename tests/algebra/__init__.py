"""Tests of algebra."""
