"""The databases of the test: Les Misérables, and a made one with event times, kinds, properties and versions."""

import csv
import random
import subprocess
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

import networkx as nx

EVIL = "<img src=x onerror=alert(1)>"
COMMAS = 'a,b "c" & d'
HUB = "bank"
FIRST_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAYS = 60


@dataclass
class Trade:
    """The made database: payments and loans between a bank, its 900 customers, and their friends."""

    path: Path
    edges: list[tuple[str, str, str, int, datetime]] = field(default_factory=list)
    """Source, target, kind, amount and time of the first version."""
    added: list[tuple[str, str]] = field(default_factory=list)
    removed: list[tuple[str, str]] = field(default_factory=list)


def esker(program: Path, *arguments: str | Path, folder: Path | None = None, text: str | None = None) -> str:
    """Runs the command, and answers its output."""
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, input=text, text=True, capture_output=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def write_csv(path: Path, header: list[str], rows: list[tuple]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def miserables(program: Path, folder: Path) -> tuple[Path, nx.Graph]:
    graph = nx.les_miserables_graph()
    rows = [(a, b, weight) for a, b, weight in graph.edges(data="weight")]
    edges = write_csv(folder / "miserables.csv", ["source", "target", "weight"], rows)
    database = folder / "miserables.esker"
    esker(program, "import", "--quiet", "--undirected", edges, database)
    return database, graph


def trade(program: Path, folder: Path) -> Trade:
    """Three versions: an import with properties, their tag, and two commits."""
    draw = random.Random(7)
    made = Trade(folder / "trade.esker")
    customers = [f"customer-{number:03}" for number in range(898)] + [EVIL, COMMAS]
    pairs = [(HUB, customer) for customer in customers]
    while len(pairs) < 2400:
        pair = (draw.choice(customers[:300]), draw.choice(customers))
        if pair[0] != pair[1] and pair not in pairs and pair[::-1] not in pairs:
            pairs.append(pair)
    for source, target in pairs:
        when = FIRST_DAY + timedelta(days=draw.randrange(DAYS), hours=12)
        made.edges.append((source, target, draw.choice(["payment", "loan"]), draw.randrange(1, 101), when))
    rows = [(*edge[:4], edge[4].strftime("%Y-%m-%dT%H:%M:%SZ")) for edge in made.edges]
    edges = write_csv(folder / "trade.csv", ["source", "target", "kind", "amount", "when"], rows)
    esker(program, "import", "--quiet", "--kind", "kind", "--time", "when", "--property", "amount", edges, made.path)
    people = [(name, draw.choice(["DE", "FR", "IT"]), draw.randrange(18, 90)) for name in customers]
    esker(program, "set", "--quiet", made.path, write_csv(folder / "people.csv", ["id", "country", "age"], people))
    esker(program, "tag", "--quiet", made.path, "latest", "people")
    change(program, made, [(customers[1], "newcomer"), ("newcomer", customers[2]), (customers[5], customers[6])], pairs[10:12])
    change(program, made, [(customers[7], "newcomer")], pairs[20:21])
    return made


def change(program: Path, made: Trade, added: list[tuple[str, str]], removed: list[tuple[str, str]]) -> None:
    """Commits a version that adds and removes edges."""
    when = (FIRST_DAY + timedelta(days=DAYS - 1, hours=13)).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [f'+ "{a}" "{b}" kind=payment amount=5 when={when}' for a, b in added] + [f'- "{a}" "{b}"' for a, b in removed]
    esker(program, "commit", "--quiet", made.path, "-m", "a change", text="\n".join(lines) + "\n")
    made.added += added
    made.removed += removed


def large(program: Path, folder: Path) -> Path:
    """A database on which some algorithms take long enough to be cancelled."""
    esker(program, "generate", "--quiet", "kron", "--scale", "13", "--degree", "8", folder / "large.esker")
    return folder / "large.esker"
