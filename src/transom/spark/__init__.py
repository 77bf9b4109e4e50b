"""From a plan to a Spark DataFrame: executes, decides nothing."""
