"""Requests: an algorithm with options, a view, a version, an encoding and residency, a limit."""

from dataclasses import dataclass

from views import View

S = object()  # Stands for a source.
T = object()  # Stands for a target.

# Options that change the answer are what the oracle reads; the others change how it is found.
ALGORITHMS = [
    ("bfs", {"source": [S]}),
    ("bfs", {"source": [S], "parents": True}),
    ("bfs", {"source": [S, T]}),
    ("bfs", {"source": [S], "max-depth": 2}),
    ("bfs", {"source": [S], "target": T}),
    ("bfs", {"source": [S], "alpha": 15, "beta": 18}),
    ("wbfs", {"source": [S]}),
    ("wbfs", {"source": [S], "parents": True}),
    ("sssp", {"source": [S]}),
    ("sssp", {"source": [S], "parents": True}),
    ("sssp", {"source": [S], "target": T}),
    ("sssp", {"source": [S], "delta": 2}),
    ("bellman-ford", {"source": [S]}),
    ("bellman-ford", {"source": [S], "parents": True}),
    ("widest", {"source": [S]}),
    ("widest", {"source": [S], "parents": True}),
    ("widest", {"source": [S], "method": "rounds"}),
    ("betweenness", {}),
    ("betweenness", {"scale": "sum"}),
    ("betweenness", {"scale": "pairs"}),
    ("betweenness", {"source": [S, T], "scale": "fraction"}),
    ("closeness", {}),
    ("closeness", {"source": [S, T]}),
    ("eccentricity", {}),
    ("harmonic", {}),
    ("harmonic", {"source": [S, T]}),
    ("order", {}),
    ("cycle", {}),
    ("strength", {"direction": "out"}),
    ("strength", {"direction": "in"}),
    ("strength", {"direction": "both"}),
    ("reciprocity", {}),
    ("similarity", {"source": [S]}),
    ("similarity", {"source": [S], "measure": "adamic-adar"}),
    ("wcc", {}),
    ("wcc", {"method": "contraction"}),
    ("scc", {}),
    ("forest", {}),
    ("forest", {"method": "union-find"}),
    ("forest", {"method": "search"}),
    ("msf", {}),
    ("biconnectivity", {}),
    ("biconnectivity", {"bridges": True}),
    ("ldd", {}),
    ("ldd", {"beta": 0.7}),
    ("spanner", {}),
    ("spanner", {"k": 2}),
    ("mis", {}),
    ("mis", {"first": "random"}),
    ("matching", {}),
    ("matching", {"method": "claims"}),
    ("matching", {"method": "priorities"}),
    ("colouring", {}),
    ("colouring", {"first": "lf", "ties": "number", "passes": 1}),
    ("colouring", {"first": "sl"}),
    ("colouring", {"first": "random"}),
    ("setcover", {}),
    ("degrees", {"direction": "out"}),
    ("degrees", {"direction": "in"}),
    ("degrees", {"direction": "both"}),
    ("kcore", {}),
    ("densest", {}),
    ("triangles", {}),
    ("triangles", {"method": "filter"}),
    ("triangles", {"method": "sample", "samples": 500}),
    ("lcc", {}),
    ("cliques", {"k": 3}),
    ("cliques", {"k": 4}),
    ("truss", {}),
    ("pagerank", {}),
    ("pagerank", {"tolerance": 1e-12, "rounds": 2000}),
    ("pagerank", {"teleport-to": [S], "tolerance": 1e-12, "rounds": 2000}),
    ("pagerank", {"damping": 0.5}),
    ("pagerank", {"by weight": True, "tolerance": 1e-12, "rounds": 2000}),
    ("cdlp", {}),
    ("cdlp", {"iterations": 3}),
]
READS_WEIGHTS = {"wbfs", "sssp", "bellman-ford", "widest", "msf", "strength", "order"}
# Algorithms that are defined for undirected graphs only, and methods of others.
UNDIRECTED = {"eccentricity", "matching", "biconnectivity", "forest", "msf", "spanner", "ldd"}
UNDIRECTED_METHODS = {("wcc", "contraction"), ("triangles", "filter"), ("triangles", "sample")}
READINGS = [
    [],
    ["--encoding", "lists", "--residency", "mapped"],
    ["--encoding", "lists", "--residency", "memory"],
    ["--encoding", "lists", "--residency", "pooled"],
    ["--encoding", "lists", "--residency", "headed"],
    ["--encoding", "lists", "--residency", "headed", "--head", "3"],
    ["--encoding", "tiles", "--residency", "mapped"],
    ["--encoding", "tiles", "--residency", "pooled"],
]
WHERES = [
    lambda rng: [],
    lambda rng: [],
    lambda rng: [],
    lambda rng: [("toll", rng.choice(["<", "<=", ">", ">=", "!="]), rng.randrange(1, 20))],
    lambda rng: [("kind", rng.choice(["=", "!="]), rng.choice(["depends", "breaks", "two words"]))],
    lambda rng: [("time", rng.choice(["<=", ">"]), rng.choice([150, 200, 300]))],
    lambda rng: [("toll", ">=", 3), ("kind", "!=", "on")],
]
WINDOWS = [(None, None)] * 6 + [
    ("all", None), ("all", None), ("distinct", None),
    ("weighted", "count"), ("weighted", "sum"), ("weighted", "min"), ("weighted", "max"), ("weighted", "last"),
]
LIMITS = [None, "1GiB", "least"]
# Commands that answer on one graph, on several versions, on windows that follow each other.
DOORS = ["run"] * 6 + ["versions", "windows"]
# Algorithms with figures alone, whose answers cannot be checked without their figures, or that may answer with a cycle.
RUN_ONLY = {"triangles", "cliques", "ldd", "spanner", "densest", "colouring", "bellman-ford", "cycle"}


@dataclass
class Question:
    algorithm: str
    options: dict
    view: View
    version: int
    reading: list
    limit: str
    threads: int
    deterministic: bool
    named: bool
    door: str = "run"
    last: int = None  # The last of several versions.
    every: int = None  # From one window to the next.

    def given(self):
        """The options of the algorithm, each with its value."""
        for name, value in self.options.items():
            if name != "by weight":
                for one in value if isinstance(value, list) else [value]:
                    yield name, one

    def args(self, database):
        if self.door == "windows":
            args = ["window", self.algorithm, database, "--length", f"{self.view.window}s", "--every", f"{self.every}s"]
            args += [part for name, one in self.given() for part in ("-p", f"{name}={'true' if one is True else one}")]
            args += self.view.args()[2:]
        else:
            args = ["run", self.algorithm, database]
            for name, one in self.given():
                args += [f"--{name}"] if one is True else [f"--{name}", str(one)]
            args += self.view.args() + self.reading
        if self.door == "versions":
            args += ["--versions", f"{self.version}..{self.last}"]
        else:
            args += ["--at", str(self.version)] if self.named else []
        args += ["--memory", self.limit] if self.limit else []
        args += ["-j", str(self.threads)] + ["--deterministic"] * self.deterministic
        return args


def needs_undirected(name, options):
    """Whether an algorithm is defined for undirected graphs only, some with an option."""
    return name in UNDIRECTED or (name, options.get("method")) in UNDIRECTED_METHODS


def question(world, rng):
    """Draws a request that makes sense for a world, and the graph that it is about is left to the caller."""
    axes, rich = world.axes, world.axes["properties"]
    name, options = rng.choice(ALGORITHMS)
    version = rng.choice(list(world.versions)) if rng.random() < 0.6 else max(world.versions)
    vertices = list(world.versions[version].vertices)
    named = {S: rng.choice(vertices), T: rng.choice(vertices)}
    fill = lambda value: [named.get(one, one) for one in value] if isinstance(value, list) else named.get(value, value)
    options = {key: fill(value) if isinstance(value, list) or value in (S, T) else value for key, value in options.items()}
    copies, combine = rng.choice(WINDOWS) if rich else (None, None)
    # Most requests that would be refused follow the remedy that the refusal names, for an answer tests more.
    undirected_share = 0.9 if needs_undirected(name, options) else 0.4
    weighs = name in READS_WEIGHTS or "by weight" in options
    view = View(
        where=rng.choice(WHERES)(rng) if rich else [],
        reverse=world.directed and rng.random() < 0.2,
        as_undirected=world.directed and rng.random() < undirected_share,
        weight="toll" if rich and weighs and rng.random() < 0.3 else None,
    )
    if axes["weights"] != "none" and not view.weight and "by weight" in options:
        view.weight = "weight"
    if copies:
        view.window, view.copies, view.combine = rng.choice([60, 150, 250]), copies, combine
        if copies == "weighted" and combine != "count" and axes["weights"] == "none" and not view.weight:
            view.combine = "count"
    view.all_vertices = view.leaves_out() and rng.random() < 0.4
    if "by weight" in options and not view.weight and not view.makes_weights():
        options.pop("by weight")
    if name == "pagerank" and view.makes_weights():
        options["by weight"] = True
    has_tiles = axes["encoding"].startswith("tiles")
    readings = [reading for reading in READINGS if has_tiles or "tiles" not in reading]
    asked = Question(
        name, options, view, version, rng.choice(readings), rng.choice(LIMITS), rng.choice([1, 2]), rng.random() < 0.3,
        version != max(world.versions) or rng.random() < 0.3,
    )
    door = rng.choice(DOORS)
    if name not in RUN_ONLY and door == "versions" and view.window is None:
        asked.door, asked.last = door, rng.choice([v for v in world.versions if v >= version])
    elif name not in RUN_ONLY and door == "windows" and view.window is not None:
        # A series has neither conditions nor a residency.
        asked.door, asked.every, asked.reading = door, rng.choice([50, 60, 100]), []
        view.where, view.reverse = [], False
    return asked
