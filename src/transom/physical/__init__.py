"""From optimised algebra to a plan for Spark, without a JVM: data forms, executors, state bounds and reasons."""
