"""Esker: an embedded, persistent, versioned graph store with a parallel analytics engine.

>>> import esker
>>> db = esker.import_("edges.parquet", "web.esker")
>>> g = db.graph()
>>> g.pagerank().top(10)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._algorithms import ALGORITHMS
    from ._batch import Batch
    from ._cancel import Cancel
    from ._database import Database
    from ._cluster import Cluster, ClusterChange, ClusterStep, cluster
    from ._edges import EdgeTable, VertexTable
    from ._errors import (
        Cancelled,
        ClosedError,
        CorruptError,
        Error,
        EskerWarning,
        ExistsError,
        ForkedError,
        InputError,
        InvalidError,
        LockedError,
        LostError,
        MemoryLimitError,
        MistypedError,
        NotFoundError,
        PermissionDeniedError,
        PropertyNotFoundError,
        ReadOnlyError,
        StorageError,
        UnsuitableError,
        VersionNotFoundError,
        VertexNotFoundError,
        WrongAnswerError,
    )
    from ._follow import Follow, FollowStep
    from ._drawing import Picture
    from ._graph import Estimate, Graph, ShortestPath
    from ._opening import create, from_edges, import_, open, recover, restore
    from ._parts import PartView
    from ._progress import Progress
    from ._reports import Backup, Comparison, Difference, DifferenceTable, ImportReport, Recovery, SyncReport, Version
    from ._result import Column, Result
    from ._streaming import EdgeStream, StreamReport, StreamState
    from ._windows import Window, Windows, WindowTable

__version__ = "0.1.0"

#: The module of each public name. Modules are imported on first use, because NetworkX imports this package whenever it is imported itself.
_HOMES = {
    "ALGORITHMS": "_algorithms",
    "Backup": "_reports",
    "Batch": "_batch",
    "Cancel": "_cancel",
    "Cancelled": "_errors",
    "ClosedError": "_errors",
    "Cluster": "_cluster",
    "ClusterChange": "_cluster",
    "ClusterStep": "_cluster",
    "Column": "_result",
    "Comparison": "_reports",
    "CorruptError": "_errors",
    "Database": "_database",
    "Difference": "_reports",
    "DifferenceTable": "_reports",
    "EdgeStream": "_streaming",
    "EdgeTable": "_edges",
    "Error": "_errors",
    "EskerWarning": "_errors",
    "Estimate": "_graph",
    "ExistsError": "_errors",
    "Follow": "_follow",
    "FollowStep": "_follow",
    "ForkedError": "_errors",
    "Graph": "_graph",
    "ImportReport": "_reports",
    "InputError": "_errors",
    "InvalidError": "_errors",
    "LockedError": "_errors",
    "LostError": "_errors",
    "MemoryLimitError": "_errors",
    "MistypedError": "_errors",
    "NotFoundError": "_errors",
    "PartView": "_parts",
    "PermissionDeniedError": "_errors",
    "Picture": "_drawing",
    "Progress": "_progress",
    "PropertyNotFoundError": "_errors",
    "ReadOnlyError": "_errors",
    "Recovery": "_reports",
    "Result": "_result",
    "ShortestPath": "_graph",
    "StorageError": "_errors",
    "StreamReport": "_streaming",
    "StreamState": "_streaming",
    "SyncReport": "_reports",
    "UnsuitableError": "_errors",
    "Version": "_reports",
    "VersionNotFoundError": "_errors",
    "VertexNotFoundError": "_errors",
    "VertexTable": "_edges",
    "Window": "_windows",
    "WindowTable": "_windows",
    "Windows": "_windows",
    "WrongAnswerError": "_errors",
    "cluster": "_cluster",
    "create": "_opening",
    "from_edges": "_opening",
    "import_": "_opening",
    "open": "_opening",
    "recover": "_opening",
    "restore": "_opening",
}

__all__ = [
    "ALGORITHMS",
    "Backup",
    "Batch",
    "Cancel",
    "Cancelled",
    "ClosedError",
    "Cluster",
    "ClusterChange",
    "ClusterStep",
    "Column",
    "Comparison",
    "CorruptError",
    "Database",
    "Difference",
    "DifferenceTable",
    "EdgeStream",
    "EdgeTable",
    "Error",
    "EskerWarning",
    "Estimate",
    "ExistsError",
    "ForkedError",
    "Graph",
    "ImportReport",
    "InputError",
    "InvalidError",
    "LockedError",
    "LostError",
    "MemoryLimitError",
    "MistypedError",
    "NotFoundError",
    "PartView",
    "Picture",
    "PermissionDeniedError",
    "Progress",
    "PropertyNotFoundError",
    "ReadOnlyError",
    "Recovery",
    "Result",
    "ShortestPath",
    "StorageError",
    "StreamReport",
    "StreamState",
    "SyncReport",
    "UnsuitableError",
    "Version",
    "VersionNotFoundError",
    "VertexNotFoundError",
    "VertexTable",
    "Window",
    "WindowTable",
    "Windows",
    "WrongAnswerError",
    "cluster",
    "create",
    "from_edges",
    "import_",
    "open",
    "recover",
    "restore",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'esker' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
