"""Stateful operators: machines inside transformWithState, in Python or in the Java kernel."""
