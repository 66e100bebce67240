"""The backend module for the entry point ``networkx.backends``."""

from __future__ import annotations

from typing import Any

from . import centrality, distances, paths, structure, weighted_paths
from .graph import NxGraph, convert_from_nx, convert_to_nx
from .offer import OFFERED

__all__ = ["NxGraph", "can_run", "convert_from_nx", "convert_to_nx", "should_run", *OFFERED]

for _name, _offer in OFFERED.items():
    globals()[_name] = _offer.function

#: The modules that register the functions.
MODULES = (structure, paths, distances, weighted_paths, centrality)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call is supported; if not, the reason."""
    offered = OFFERED.get(name)
    if offered is None:
        return f"esker does not offer {name}"
    reason = offered.refusal(args, {key: value for key, value in kwargs.items() if key != "backend"})
    return True if reason is None else reason


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call is worth the conversion of the graph; if not, the reason."""
    graph = args[0] if args else kwargs.get("G")
    if isinstance(graph, NxGraph) or getattr(graph, "__networkx_backend__", "networkx") == "esker":
        return True
    if hasattr(graph, "number_of_edges") and graph.number_of_edges() < 1_000:
        return "converting such a small graph takes longer than running NetworkX"
    return True
