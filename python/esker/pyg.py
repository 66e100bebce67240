"""Stores for PyTorch Geometric, so that its loaders sample from an Esker graph. Torch is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from ._errors import InvalidError, MistypedError, PropertyNotFoundError

if TYPE_CHECKING:
    from ._graph import Graph

#: The types of the nodes and of the edges.
NODE_TYPE, EDGE_TYPE = "vertex", ("vertex", "to", "vertex")


def stores(graph: Graph, x: Iterable[str] | None = None, y: str | None = None) -> tuple[Any, Any]:
    """A ``FeatureStore`` with vertex properties and a ``GraphStore`` with edges, by vertex numbers, for
    ``NeighborLoader((feature_store, graph_store), ...)``.

    Args:
        graph: The graph.
        x: The properties used as features ``x``, one column each, as 32-bit floats; missing values are ``nan``. By default all numeric
            properties except ``y``.
        y: The property used as label ``y``: integers as 64-bit integers, -1 if missing; floats as 32-bit floats.

    The lists of a version in a single plain layer are mapped, not copied. Loader workers that are not forked open the database again.
    """
    numeric = [name for name, kind in graph.vertex_properties.items() if kind != "text"]
    if isinstance(x, str):
        raise MistypedError(f"x must be a list of properties, as in x=[{x!r}]")
    names = [name for name in numeric if name != y] if x is None else list(x)
    for name in [*names, *([] if y is None else [y])]:
        if name not in numeric:
            raise PropertyNotFoundError(f"no numeric vertex property {name!r}; the numeric vertex properties are {numeric}")
    return feature_store(graph, names, y), graph_store(graph)


def feature_store(graph: Graph, names: list[str], label: str | None) -> Any:
    """The store of vertex properties."""
    import numpy
    import torch
    from torch_geometric.data import FeatureStore, TensorAttr

    class EskerFeatureStore(FeatureStore):  # type: ignore[misc]
        """Vertex properties: ``x``, ``y``, and each property by name."""

        def __init__(self) -> None:
            super().__init__()
            self._tensors: dict[str, Any] = {}

        def __reduce__(self) -> Any:
            return feature_store, (graph, names, label)

        def _column(self, name: str, whole: bool = False) -> Any:
            values = graph.property(name)
            if whole and values.dtype.kind in "iu":
                return torch.from_numpy(values.astype(numpy.int64).filled(-1))
            return torch.from_numpy(values.astype(numpy.float32).filled(numpy.nan))

        def _all(self, name: str) -> Any:
            if name not in self._tensors:
                if name == "x" and names:
                    self._tensors[name] = torch.stack([self._column(one) for one in names], dim=1)
                else:
                    self._tensors[name] = self._column(label if name == "y" and label else name, whole=name == "y")
            return self._tensors[name]

        def _get_tensor(self, attr: TensorAttr) -> Any:
            tensor = self._all(attr.attr_name)
            return tensor if attr.index is None else tensor[attr.index]

        def _get_tensor_size(self, attr: TensorAttr) -> Any:
            return tuple(self._all(attr.attr_name).size())

        def get_all_tensor_attrs(self) -> list[Any]:
            return [TensorAttr(NODE_TYPE, name) for name, is_there in (("x", names), ("y", label)) if is_there]

        def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
            raise InvalidError("the store is read-only; change the database with db.batch() and set_vertices")

        def _remove_tensor(self, attr: TensorAttr) -> bool:
            raise InvalidError("the store is read-only; change the database with db.batch() and set_vertices")

    return EskerFeatureStore()


def graph_store(graph: Graph) -> Any:
    """The store of edges."""
    import numpy
    import torch
    from torch_geometric.data import EdgeAttr, GraphStore
    from torch_geometric.data.graph_store import EdgeLayout

    class EskerGraphStore(GraphStore):  # type: ignore[misc]
        """The edges, in all three layouts."""

        def __reduce__(self) -> Any:
            return graph_store, (graph,)

        def _get_edge_index(self, attr: EdgeAttr) -> Any:
            matrix = graph.to_scipy(weight=False, direction="in" if attr.layout == EdgeLayout.CSC else "out")
            offsets = torch.from_numpy(matrix.indptr.astype(numpy.int64))
            others = torch.from_numpy(matrix.indices.astype(numpy.int64))
            if attr.layout == EdgeLayout.COO:
                return torch.arange(len(graph)).repeat_interleave(offsets.diff()), others
            return (offsets, others) if attr.layout == EdgeLayout.CSR else (others, offsets)

        def get_all_edge_attrs(self) -> list[Any]:
            n = len(graph)
            # `is_sorted` means sorted by target.
            return [EdgeAttr(EDGE_TYPE, layout, layout == EdgeLayout.CSC, (n, n)) for layout in (EdgeLayout.CSC, EdgeLayout.CSR)]

        def _put_edge_index(self, index: Any, attr: EdgeAttr) -> bool:
            raise InvalidError("the store is read-only; change the database with db.batch() and add_edges")

        def _remove_edge_index(self, attr: EdgeAttr) -> bool:
            raise InvalidError("the store is read-only; change the database with db.batch() and delete_edges")

    return EskerGraphStore()
