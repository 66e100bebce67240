"""The backend ``esker`` of NetworkX: ``networkx.pagerank(G, backend="esker")``, or ``networkx.config.backend_priority``.

``info`` is what NetworkX asks when it is imported, ``backend`` the functions."""
