"""Points, distances, regions and geodesics."""
