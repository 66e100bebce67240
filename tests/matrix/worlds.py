"""Random databases with a history, as commands that make them and as a model of each version."""

import json
import random
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

# The axes of databases. A world is one value of each; its number says which.
AXES = {
    "directions": ["undirected", "directed", "no in-edges"],
    "duplicates": ["keep", "last", "first", "sum", "min", "max"],
    "weights": ["none", "small", "equal", "large", "wide", "negative", "halves", "extreme"],
    "ids": ["dense", "shifted", "sparse", "text"],
    "order": ["keep", "degree"],
    "encoding": ["plain", "compressed", "tiles", "tiles only"],
    "heads": [False, True],
    "history": ["whole", "layers", "many layers", "log", "log alone", "over merged", "merged", "log over merged", "renumbered"],
    "removed": ["none", "few", "many"],
    "copy": ["mixed", "chain", "copy"],
    "properties": [True, False],
}
COUNT = 1
for values in AXES.values():
    COUNT *= len(values)


def axes_of(number):
    """The values of a world."""
    found = {}
    for name, values in AXES.items():
        number, digit = divmod(number, len(values))
        found[name] = values[digit]
    return found


def is_possible(axes):
    """To remove a vertex takes in-edges; heads are of lists; rules by weight need one."""
    return not (
        axes["directions"] == "no in-edges" and axes["removed"] != "none"
        or axes["heads"] and axes["encoding"] == "tiles only"
        or axes["weights"] == "none" and axes["duplicates"] in ("sum", "min", "max")
        or axes["history"] == "whole" and (axes["removed"] != "none" or axes["copy"] != "mixed")
    )


@dataclass(frozen=True)
class Edge:
    u: object
    v: object
    weight: object = None
    toll: int = 0
    kind: str = ""
    time: int = 0

    def value(self, name):
        return getattr(self, name)


@dataclass
class Version:
    """What a version of a database is: its vertices, and its edges, each once."""

    vertices: dict
    edges: list


WEIGHTS = {
    "none": lambda rng: None,
    "small": lambda rng: rng.randrange(10),
    "equal": lambda rng: 7,
    "large": lambda rng: rng.choice([2**31 - 1, 1]),
    "wide": lambda rng: rng.choice([2**40, 1, 2**33 + 1, 2**50]),
    "negative": lambda rng: rng.choice([5, 9, 1, 30, 12, 7, -1]),
    "halves": lambda rng: rng.randrange(1, 40) / 2,
    "extreme": lambda rng: rng.choice([1e-200, 1e200, 3.0, 3.0000000000000004, 0.1]),
}
KINDS = ["depends", "breaks", "on", "two words"]
TIMES = [100, 101, 150, 199, 200, 201, 250, 300, 310, 320]


class World:
    """A database: its axes, its versions, and the commands that make it."""

    def __init__(self, number, seed):
        self.number, self.axes = number, axes_of(number)
        self.rng = random.Random(f"{seed}/{number}")
        self.directed = self.axes["directions"] != "undirected"
        self.versions = {}
        self.scripts = []
        self._draw()

    def id(self, place):
        return {"dense": place, "shifted": place + 5, "sparse": 1000 * place + 7, "text": f"v{place * 37 % 101:03}"}[
            self.axes["ids"]
        ]

    def vertex(self, text):
        """The vertex of an id as a command shows it."""
        return text if self.axes["ids"] == "text" or text is None else int(text)

    def ends(self, u, v):
        return (u, v) if self.directed else tuple(sorted((u, v)))

    def edge(self, u, v):
        rng = self.rng
        rich = self.axes["properties"]
        weight = WEIGHTS[self.axes["weights"]](rng)
        return Edge(
            u, v, weight,
            toll=rng.randrange(1, 20) if rich else 0,
            kind=rng.choice(KINDS) if rich else "",
            time=rng.choice(TIMES) if rich else 0,
        )

    def _end(self):
        """A place; small ones are drawn more often."""
        return self.id(self.rng.randrange(self.rng.randrange(self.places) + 1))

    def any_edge(self):
        return self.edge(self._end(), self.id(self.rng.randrange(self.places)))

    def _draw(self):
        rng = self.rng
        self.places = rng.choice([3, 5, 8, 13, 20, 30, 40, 40, 100])
        self.imported = [self.any_edge() for _ in range(int(self.places * rng.choice([0.5, 1, 2, 3, 5])))]
        if self.imported and rng.random() < 0.6:
            self.imported += [self.edge(e.u, e.v) for e in rng.choices(self.imported, k=1 + len(self.imported) // 6)]
        if self.imported and rng.random() < 0.6:
            self.imported += [self.edge(e.v, e.u) for e in rng.choices(self.imported, k=1 + len(self.imported) // 4)]
        if not self.imported:
            self.imported = [self.any_edge()]
        self.named = [self.id(place) for place in range(self.places)] if rng.random() < 0.6 else []
        version = Version({}, [])
        for v in self.named:
            version.vertices[v] = None
        for edge in self.imported:
            self.add(version, edge)
        self.versions[1] = self.copy(version)
        commits = {"whole": 0, "many layers": 10}.get(self.axes["history"], 4)
        for number in range(2, 2 + commits):
            self.scripts.append(self.change(version, number))
            self.versions[number] = self.copy(version)
        if self.axes["history"] == "renumbered":
            self.versions = {number: self.versions[number]}

    @staticmethod
    def copy(version):
        return Version(dict(version.vertices), list(version.edges))

    def place_of(self, version, u, v):
        return next((i for i, e in enumerate(version.edges) if self.ends(e.u, e.v) == self.ends(u, v)), None)

    def add(self, version, edge):
        """As `+ u v`: by the rule for duplicates."""
        version.vertices[edge.u] = version.vertices[edge.v] = None
        at, rule = self.place_of(version, edge.u, edge.v), self.axes["duplicates"]
        if rule == "keep" or at is None:
            version.edges.append(edge)
            return
        old = version.edges[at]
        version.edges[at] = {
            "last": lambda: edge,
            "first": lambda: old,
            "sum": lambda: replace(old, weight=old.weight + edge.weight),
            "min": lambda: min(old, edge, key=lambda e: e.weight),
            "max": lambda: max(old, edge, key=lambda e: e.weight),
        }[rule]()

    def delete(self, version, u, v):
        version.edges = [e for e in version.edges if self.ends(e.u, e.v) != self.ends(u, v)]

    def remove(self, version, v):
        version.edges = [e for e in version.edges if v not in (e.u, e.v)]
        del version.vertices[v]

    def change(self, version, number):
        """Draws a commit, applies it, and gives its lines."""
        rng, lines = self.rng, []
        for _ in range(rng.randrange(1, 6)):
            old = rng.choice(version.edges) if version.edges and rng.random() < 0.3 else None
            edge = self.edge(old.u, old.v) if old else self.any_edge()
            self.add(version, edge)
            lines.append(f"+ {self.quoted(edge.u)} {self.quoted(edge.v)}{self.values(edge)}")
        for _ in range(rng.randrange(5)):
            if version.edges:
                e = rng.choice(version.edges)
                u, v = (e.u, e.v) if self.directed or rng.random() < 0.5 else (e.v, e.u)
                self.delete(version, u, v)
                lines.append(f"- {self.quoted(u)} {self.quoted(v)}")
        removals = {"none": 0, "few": int(number in (2, 3)), "many": max(1, self.places // 4)}[self.axes["removed"]]
        for _ in range(removals):
            if len(version.vertices) > 2:
                v = rng.choice(list(version.vertices))
                self.remove(version, v)
                lines.append(f"- {self.quoted(v)}")
        if rng.random() < 0.3:
            v = self.id(self.places + rng.randrange(3))
            version.vertices[v] = None
            lines.append(f"+ {self.quoted(v)}")
        return "\n".join(lines) + "\n"

    def quoted(self, v):
        return str(v)

    def values(self, edge):
        found = {} if edge.weight is None else {"weight": edge.weight}
        if self.axes["properties"]:
            found.update(toll=edge.toll, kind=f'"{edge.kind}"', time=edge.time)
        return "".join(f" {name}={value!r}" if isinstance(value, float) else f" {name}={value}" for name, value in found.items())

    def commands(self, folder):
        """Files, and the commands that make the database in this folder; a command may have an input."""
        names = ["source", "target"]
        if self.axes["weights"] != "none":
            names.append("weight")
        if self.axes["properties"]:
            names += ["toll", "kind", "time"]
        fields = {"source": "u", "target": "v"}
        row = lambda edge: ",".join(str(edge.value(fields.get(name, name))) for name in names)
        files = {"edges.csv": "\n".join([",".join(names), *map(row, self.imported)]) + "\n"}
        db, encoding = str(folder / "g.esker"), self.axes["encoding"]
        args = ["import", str(folder / "edges.csv"), db, "--undirected" if not self.directed else "--directed"]
        args += ["--duplicates", self.axes["duplicates"], "--order", self.axes["order"]]
        args += ["--copy", self.axes["copy"], "--merge", "never"]
        args += ["--ids", "text" if self.axes["ids"] == "text" else "int"]
        args += ["--encoding", encoding.split()[0]] + (["--only"] if encoding == "tiles only" else [])
        args += ["--heads", "2"] if self.axes["heads"] else []
        args += ["--no-in-edges"] if self.axes["directions"] == "no in-edges" else []
        if self.named:
            files["vertices.txt"] = "".join(f"{v}\n" for v in self.named)
            args += ["--vertices", str(folder / "vertices.txt")]
        if self.axes["properties"]:
            args += ["--schema", "kind:text,toll:i32", "--time", "time"]
        commands = [(args, None)]
        last = len(self.scripts) - 1
        for i, script in enumerate(self.scripts):
            history = self.axes["history"]
            freeze = history in ("layers", "many layers", "over merged", "merged") or history == "log" and i < last
            commands.append((["commit", db, "-", *(["--freeze"] if freeze else [])], script))
            half = history in ("over merged", "log over merged") and i == last // 2
            if half or history == "merged" and i == last:
                commands.append((["compact", db], None))
        if self.axes["history"] == "renumbered":
            # No older version needs the removed vertices, so they are left out for good.
            commands += [(["retain", db, "last", "1"], None), (["compact", db, "--renumber", "always"], None)]
        return files, commands

    def make(self, esker, folder):
        """Makes the database; returns its path."""
        files, commands = self.commands(folder)
        for name, text in files.items():
            Path(folder, name).write_text(text)
        for args, script in commands:
            done = subprocess.run([esker, *args], input=script, capture_output=True, text=True, timeout=60)
            if done.returncode:
                raise RuntimeError(f"{' '.join(args)}: {done.stderr}")
        return str(folder / "g.esker")

    def script(self):
        """The commands as a shell script, for a reproduction."""
        folder = Path(".")
        files, commands = self.commands(folder)
        lines = [f"printf {json.dumps(text)} >{name}" for name, text in files.items()]
        for args, script in commands:
            begin = f"printf {json.dumps(script)} | " if script else ""
            lines.append(begin + " ".join(["esker", *args]))
        return "\n".join(lines)
