"""Maps of moving objects, as SVG and GeoJSON."""
