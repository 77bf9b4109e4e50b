"""The results of a query on Spark, for users and for comparison."""
