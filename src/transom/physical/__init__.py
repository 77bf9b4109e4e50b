"""From optimised algebra to a plan for Spark, without a JVM: which form, which path, how much state, and why."""
