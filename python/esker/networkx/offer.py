"""The registry of offered functions, and the checks of their arguments."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, NamedTuple

import networkx as nx

from .._graph import Graph
from .graph import EDGES, NxGraph, too_large

#: Returns the reason why a call is not supported, or ``None``.
Refusal = Callable[[dict[str, Any]], "str | None"]


class Offer(NamedTuple):
    """An offered function of NetworkX."""

    function: Callable[..., Any]
    signature: inspect.Signature
    kinds: str
    refuse: Refusal | None

    def refusal(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
        """The reason why a call is not supported, or ``None``."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"esker does not support these arguments: {error}"
        bound.apply_defaults()
        given = bound.arguments
        graph = given.get("G")
        if not hasattr(graph, "is_directed") or not hasattr(graph, "is_multigraph"):
            return f"esker supports graphs of NetworkX and of Esker, not {type(graph).__name__}"
        if isinstance(graph, nx.Graph) and type(graph).neighbors not in (nx.Graph.neighbors, nx.DiGraph.neighbors):
            return f"esker does not support {type(graph).__name__}, which redefines neighbors"
        if graph.is_multigraph():
            return "esker does not support multigraphs here, because it treats parallel edges differently; convert it to a simple graph"
        if self.kinds == "undirected only" and graph.is_directed():
            return "esker supports this for undirected graphs only"
        if not isinstance(graph, (Graph, NxGraph)):
            # Functions that change a graph without its methods set its cache to None.
            reason = too_large((getattr(graph, "__networkx_cache__", None) or {}).get(EDGES, 0))
            if reason is not None:
                return reason
        return self.refuse(given) if self.refuse else None


OFFERED: dict[str, Offer] = {}


def offer(kinds: str = "any", refuse: Refusal | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under its own name.

    Args:
        kinds: The graphs for which NetworkX defines the function: ``any``, ``undirected`` or ``directed``; others raise its exception.
            ``undirected only``: NetworkX defines it for all graphs, Esker for undirected ones.
        refuse: Returns the reason why other arguments are not supported.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def offered(*args: Any, **kwargs: Any) -> Any:
            reason = OFFERED[function.__name__].refusal(args, kwargs)
            if reason is not None:
                raise NotImplementedError(reason)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            graph = bound.arguments["G"] = NxGraph.of(bound.arguments["G"]).weighed_by(bound.arguments.get("weight"))
            if kinds == "undirected" and graph.is_directed():
                raise nx.NetworkXNotImplemented("not implemented for directed type")
            if kinds == "directed" and not graph.is_directed():
                raise nx.NetworkXNotImplemented("not implemented for undirected type")
            return function(*bound.args, **bound.kwargs)

        OFFERED[function.__name__] = Offer(offered, signature, kinds, refuse)
        return offered

    return register


def unless(**wanted: Any) -> Refusal:
    """Rejects arguments with other values than these."""

    def refuse(given: dict[str, Any]) -> str | None:
        for name, value in wanted.items():
            if given.get(name) is not value and given.get(name) != value:
                return f"esker does not support {name}={given[name]!r}"
        return None

    return refuse


def weight_by_name(given: dict[str, Any]) -> str | None:
    """Rejects weight functions."""
    weight = given.get("weight")
    return "esker supports weights given by the name of an attribute, not by a function" if callable(weight) else None
