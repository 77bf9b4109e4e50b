"""Cases derived by hand, on Spark."""
