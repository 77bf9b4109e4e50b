"""How a query is planned, evaluated and shown: for rows, and for RDF."""
