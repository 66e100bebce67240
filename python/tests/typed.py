"""Right and wrong uses for type checkers, never run. A wrong use has a comment that ignores its error; a comment without error is an error too."""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy

import esker

right_graph: esker.Graph = esker.from_edges([0, 1], [1, 2], weight=[1.5, 2.0], properties={"kind": ["a", "b"]}, directed=False, order="keep")
from_object: esker.Graph = esker.from_edges([(0, 1)], weight="cost", num_vertices=3)
without_values: esker.Graph = esker.from_edges([(0, 1)], weight=False)
esker.from_edges([0], [1], weights=[1.0])  # type: ignore[call-overload]
esker.from_edges([0], [1], weight="cost", order="keep", properties=3)  # type: ignore[call-overload]
esker.from_edges([0], [1], order="kept")  # type: ignore[call-overload]

db: esker.Database = esker.create("a.esker", encoding="compressed", sync="never")
esker.create("a.esker", encoding="tiles", only=True)
esker.create("b.esker", encoding="zip")  # type: ignore[arg-type]
esker.open("a.esker", "w")  # type: ignore[arg-type]
esker.open("a.esker", sync="often")  # type: ignore[arg-type]
db.import_("a.csv", duplicates="sum", bad_lines="skip", ids="text")
db.import_("a.csv", duplicates="most")  # type: ignore[arg-type]
db.compact(encoding="tiles")
db.compact(encoding="zip")  # type: ignore[arg-type]
with db.batch("monday") as batch:
    batch.add_edges([0], [1], weight=[1.0]).delete_edges([1], [2])
    batch.add_edges([0], [1], colour=["red"])  # type: ignore[call-overload]

degree: int = right_graph.degree(0)
degrees: numpy.ndarray = right_graph.degree(direction="both")
near: List[object] = right_graph.neighbors(0)
numbers: numpy.ndarray = right_graph.neighbors(0, dense=True)
right_graph.neighbors(0, direction="up")  # type: ignore[call-overload]
wrong_degree: str = right_graph.degree(0)  # type: ignore[assignment]

part: esker.Graph = right_graph.ego(0, 2, direction="out").reverse().undirected().subgraph([0, 1])
chosen: esker.Graph = part.filter({"kind": "a"}).filter(lambda edges: edges.source == edges.target)
part.subgraph(0)  # type: ignore[arg-type]
part.filter("kind = 'a'")
part.filter(5)  # type: ignore[arg-type]
with esker.Cancel() as handle:
    handle.cancel()
handle.cancel("now")  # type: ignore[call-arg]

ranks: esker.Result = right_graph.pagerank(damping=0.9, residency="pooled", threads=2)
right_graph.pagerank(damping="much")  # type: ignore[arg-type]
right_graph.pagerank(residency="disk")  # type: ignore[arg-type]
right_graph.betweenness(scale="fraction")
right_graph.betweenness(scale="percent")  # type: ignore[arg-type]
right_graph.bfs()  # type: ignore[call-arg]
top: List[Tuple[object, object]] = ranks.top(3)
estimate: esker.Estimate = right_graph.estimate.pagerank()
version: Optional[int] = batch.version
