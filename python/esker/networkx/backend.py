"""The backend: for the entry point ``networkx.backends``."""

from __future__ import annotations

from typing import Any

from . import centrality, paths, structure
from .graph import NxGraph, convert_from_nx, convert_to_nx
from .offer import OFFERED

__all__ = ["NxGraph", "can_run", "convert_from_nx", "convert_to_nx", "should_run", *OFFERED]

for _name, _offer in OFFERED.items():
    globals()[_name] = _offer.function

#: Modules whose functions are offered.
MODULES = (structure, paths, centrality)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call can be run; if not, why."""
    offered = OFFERED.get(name)
    if offered is None:
        return f"esker does not offer {name}"
    reason = offered.refusal(args, {key: value for key, value in kwargs.items() if key != "backend"})
    return True if reason is None else reason


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call is worth converting a graph for."""
    graph = args[0] if args else kwargs.get("G")
    if isinstance(graph, NxGraph) or getattr(graph, "__networkx_backend__", "networkx") == "esker":
        return True
    if hasattr(graph, "number_of_edges") and graph.number_of_edges() < 1_000:
        return "converting so small a graph takes longer than NetworkX takes to answer"
    return True
