"""A project that runs: all its queries in one Spark application, and what programs ask of them over HTTP."""
