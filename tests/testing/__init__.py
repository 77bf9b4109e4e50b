"""Tests of test cases for queries."""
