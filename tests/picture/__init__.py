"""Tests of the pictures of windows."""
