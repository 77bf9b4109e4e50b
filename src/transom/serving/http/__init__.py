"""What programs ask of a running project over HTTP: queries, answers, events, health and metrics."""
