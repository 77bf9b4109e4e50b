"""Pictures of windows and intervals over time, as SVG."""
