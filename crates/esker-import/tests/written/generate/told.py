"""What a file of the corpus means, written beside it: see `../corpus.rs` for the form."""

import json
import math
import os
import re
import time
from datetime import date, datetime

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus")

# Files that hold the time at which they were written are the same whenever that is.
NOW = 1_700_000_000
GMT = time.gmtime(NOW)
time.time = lambda: NOW
time.gmtime = lambda *_: GMT


class Verbatim(str):
    """A value that stands in a `.meant` file as it is, such as a time."""


def word(text: object) -> str:
    text = str(text)
    return text if re.fullmatch(r"[^\s\"=\\]+", text) else json.dumps(text, ensure_ascii=False)


def value(given: object) -> str:
    if isinstance(given, Verbatim):
        return given
    if isinstance(given, datetime):
        return given.isoformat().replace("+00:00", "Z")
    if isinstance(given, date):
        return given.isoformat()
    if hasattr(given, "item"):
        given = given.item()
    return json.dumps(given, ensure_ascii=False)


def is_given(of: object) -> bool:
    return of is not None and not (isinstance(of, float) and math.isnan(of)) and str(of) not in ("NaT", "<NA>")


def line(sign: str, ids: list, values: dict) -> str:
    given = [f"{word(name)}={value(of)}" for name, of in values.items() if is_given(of)]
    return " ".join([sign, *map(word, ids), *given])


def keeps_empty(file: str) -> bool:
    """Whether a file says of a text that it is empty: a table without quotes has no other cell for a missing one."""
    if not file.endswith((".csv", ".tsv", ".edgelist")):
        return True
    with open(file, encoding="utf-8", errors="replace") as text:
        return any(re.search(r'(^|[,;|\t])""([,;|\t]|$)', one.rstrip("\r\n")) for one in text)


def path(program: str, name: str) -> str:
    os.makedirs(os.path.join(CORPUS, program), exist_ok=True)
    return os.path.join(CORPUS, program, name)


def tell(file: str, by: str, call: str, graph: tuple | None = None, **more: object) -> None:
    """Writes FILE.meant. `graph` is (directed, {id: properties}, [(source, target, properties)]); other
    arguments are lines such as `refused`, whose words are a list."""
    lines = [f"by: {by}", f"call: {' '.join(call.split())}"]
    for key, of in more.items():
        words = [of] if isinstance(of, str) else [json.dumps(one, ensure_ascii=False) for one in of]
        lines.append(f"{key}: {' '.join(words)}")
    if graph is not None:
        directed, vertices, edges = graph
        if not keeps_empty(file):
            is_told = lambda of: {name: given for name, given in of.items() if given != ""}
            edges = [(*edge[:2], *map(is_told, edge[2:])) for edge in edges]
        ends = {str(end) for edge in edges for end in edge[:2]}
        lines.append("directed" if directed else "undirected")
        lines += [line("v", [v], values) for v, values in vertices.items() if values or str(v) not in ends]
        lines += [line("e", edge[:2], edge[2] if len(edge) > 2 else {}) for edge in edges]
    with open(file + ".meant", "w", encoding="utf-8", newline="\n") as out:
        out.write("\n".join(lines) + "\n")
