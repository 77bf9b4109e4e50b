"""Tests of the planner for Spark; none needs a JVM."""
