"""The planner: optimized algebra to a plan for Spark."""
