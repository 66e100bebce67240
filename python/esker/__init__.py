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
    from ._database import Batch, Database, Difference, ImportReport, Version, create, from_edges, import_, open
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
    from ._graph import EdgeTable, Estimate, Graph
    from ._progress import Progress
    from ._result import Column, Result

__version__ = "0.1.0"

#: Where everything is. It is imported when it is first used: NetworkX looks into this package whenever it is imported itself.
_HOMES = {
    "ALGORITHMS": "_algorithms",
    "Batch": "_database",
    "Cancelled": "_errors",
    "ClosedError": "_errors",
    "Column": "_result",
    "CorruptError": "_errors",
    "Database": "_database",
    "Difference": "_database",
    "EdgeTable": "_graph",
    "Error": "_errors",
    "EskerWarning": "_errors",
    "Estimate": "_graph",
    "ExistsError": "_errors",
    "ForkedError": "_errors",
    "Graph": "_graph",
    "ImportReport": "_database",
    "InputError": "_errors",
    "InvalidError": "_errors",
    "MemoryLimitError": "_errors",
    "MistypedError": "_errors",
    "NotFoundError": "_errors",
    "PermissionDeniedError": "_errors",
    "Progress": "_progress",
    "PropertyNotFoundError": "_errors",
    "ReadOnlyError": "_errors",
    "Result": "_result",
    "StorageError": "_errors",
    "UnsuitableError": "_errors",
    "Version": "_database",
    "VersionNotFoundError": "_errors",
    "VertexNotFoundError": "_errors",
    "WrongAnswerError": "_errors",
    "create": "_database",
    "from_edges": "_database",
    "import_": "_database",
    "open": "_database",
}

__all__ = [
    "ALGORITHMS",
    "Batch",
    "Cancelled",
    "ClosedError",
    "Column",
    "CorruptError",
    "Database",
    "Difference",
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
    "MemoryLimitError",
    "MistypedError",
    "NotFoundError",
    "PermissionDeniedError",
    "Progress",
    "PropertyNotFoundError",
    "ReadOnlyError",
    "Result",
    "StorageError",
    "UnsuitableError",
    "Version",
    "VersionNotFoundError",
    "VertexNotFoundError",
    "WrongAnswerError",
    "create",
    "from_edges",
    "import_",
    "open",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'esker' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
