"""The NetworkX backend ``esker``: use ``networkx.pagerank(G, backend="esker")``, or ``networkx.config.backend_priority``.

NetworkX reads ``info`` when it is imported; ``backend`` contains the functions."""
