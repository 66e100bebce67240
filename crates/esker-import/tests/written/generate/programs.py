"""Files of the corpus that programs of Debian 12 write.

    apt-get install graphviz nauty metis scotch miller csvkit datamash tshark nfdump gnumeric r-base-core r-cran-igraph \\
        libreoffice-calc-nogui sqlite3 jq mawk git
    python programs.py
"""

import json
import os
import struct
import subprocess
import tempfile

from told import Verbatim, path, tell

ROWS = [("ann", "bob", 3), ("bob", "cleo d", -4), ("cleo d", "ann", 10), ("dan", "ann", 2)]
TOLD = (True, {}, [(u, v, {"amount": w}) for u, v, w in ROWS])
CSV = "sender,receiver,amount\n" + "".join(f"{u},{v},{w}\n" for u, v, w in ROWS)
DOT = 'digraph g { ann [age=30]; "cleo d" [age=7]; ann -> bob [weight=3]; bob -> "cleo d" [weight=0.5]; "cleo d" -> ann [weight=2]; }'
OF_DOT = (True, {"ann": {"age": 30}, "cleo d": {"age": 7}},
          [("ann", "bob", {"weight": 3}), ("bob", "cleo d", {"weight": 0.5}), ("cleo d", "ann", {"weight": 2})])
ALL = {"with": "property=all"}


def put(program: str, package: str, name: str, call: str, graph: tuple | None, stdin: str | bytes = CSV, **more: object) -> None:
    """Runs `call` in a folder of its own with the input `in.csv`; it writes `out`, or its output is the file."""
    file = path(program, name)
    with tempfile.TemporaryDirectory() as folder:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        open(os.path.join(folder, "in"), "wb").write(data)
        open(os.path.join(folder, "in.csv"), "wb").write(data)
        environment = {**os.environ, "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        done = subprocess.run(call, shell=True, cwd=folder, capture_output=True, env=environment, timeout=200)
        assert done.returncode == 0, f"{name}: {done.stderr.decode()[-400:]}"
        out = os.path.join(folder, "out")
        written = open(out, "rb").read() if os.path.exists(out) else done.stdout
    assert written, name
    open(file, "wb").write(written)
    if "refused" in more and "with" not in more:
        graph = None
    version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True).stdout
    tell(file, f"{program} ({package} {version} of Debian)", call, graph, **more)


def graphs() -> None:
    dot = lambda name, call, graph, **more: put("graphviz", "graphviz", name, call, graph, DOT, **more)
    dot("canonical.dot", "dot -Tcanon in", OF_DOT)
    dot("layout.json", "dot -Tjson0 in", None, refused=["source"])
    dot("layout.plain.txt", "dot -Tplain in", None, refused=["column"])
    dot("people.gml", "gv2gml in", OF_DOT, maybe=["id", "name", "label", "graphics"])
    dot("people.gxl", "gv2gxl in", None, refused=["XML"])
    dot("people.svg", "dot -Tsvg in", None, refused=["XML"])
    put("nauty", "nauty", "trees.g6", "nauty-geng -q -c 4 3:3", None, refused=["another graph"])
    put("nauty", "nauty", "path.s6", "nauty-geng -q -c 3 2:2 | nauty-copyg -q -s", (False, {}, [(0, 2), (1, 2)]))
    put("nauty", "nauty", "path.edges.txt", "nauty-geng -q -c 3 2:2 | nauty-showg -q -e", None, refused=["column"])
    put("nauty", "nauty", "path.lists.txt", "nauty-geng -q -c 3 2:2 | nauty-listg -q", None, refused=["column"])
    put("scotch", "scotch", "mesh.grf", "gmk_m2 3 2 out", None, refused=["column"])
    put("metis", "metis", "mesh.graph", "m2gmetis -gtype=nodal in out", (False, {}, [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]),
        "2\n1 2 3\n2 3 4\n")


def tables() -> None:
    load = ".import --csv in pays"
    sql = lambda name, mode, graph=TOLD, **more: put("sqlite3", "sqlite3", name,
                                                    f"sqlite3 -header -{mode} :memory: '{load}' 'select * from pays'", graph,
                                                    **(more or ALL))
    sql("pays.csv", "csv")
    sql("pays-list.txt", "list", (True, {}, TOLD[2]))
    sql("pays-tabs.txt", "tabs")
    sql("pays-quote.csv", "quote", None, refused=["single quotes"])
    sql("pays.json", "json", None, refused=["JSON"])
    sql("pays-column.txt", "column", None, refused=["dashes"])
    sql("pays.md", "markdown", None, refused=["dashes"])
    sql("pays-box.txt", "box", None, refused=["column"])
    put("sqlite3", "sqlite3", "pays-insert.sql", f"sqlite3 :memory: '{load}' '.mode insert' 'select * from pays'", None, refused=["column"])
    mlr = lambda name, out, graph=TOLD, **more: put("mlr", "miller", name, f"mlr --icsv --o{out} cat in", graph, **(more or ALL))
    mlr("pays.csv", "csv")
    mlr("pays-quoted.csv", "csv --quote-all")
    mlr("pays.tsv", "tsv")
    mlr("pays.json", "json", None, refused=["JSON"])
    mlr("pays.jsonl", "jsonl", None, refused=["JSON"])
    mlr("pays.dkvp", "dkvp", None, refused=["="])
    mlr("pays.nidx", "nidx", None, refused=["column"])
    mlr("pays.xtab", "xtab", None, refused=["column"])
    mlr("pays.pprint", "pprint", None, refused=["column"])
    mlr("pays-barred.txt", "pprint --barred", None, refused=["dashes"])
    mlr("pays.md", "md", None, refused=["dashes"])
    put("csvkit", "csvkit", "pays.tsv", "csvformat -T in", TOLD, **ALL)
    put("csvkit", "csvkit", "pays-nonnumeric.csv", "csvformat -U 2 -D ';' in", TOLD, **ALL)
    put("csvkit", "csvkit", "pays.txt", "csvlook in", None, refused=["dashes"])
    put("jq", "jq", "pays.csv", """jq -Rrs 'split("\\n")[:-1][] | split(",") | @csv' in""", TOLD, **ALL)
    put("jq", "jq", "pays.tsv", """jq -Rrs 'split("\\n")[:-1][] | split(",") | @tsv' in""", TOLD, **ALL)
    put("datamash", "datamash", "pays-counts.csv", "datamash -t, --header-in -s groupby 1,2 count 1 < in",
        (True, {}, [(u, v, {"weight": 1}) for u, v, _ in ROWS]), **ALL)
    put("datamash", "datamash", "pays-cross.csv", "datamash -t, --header-in -s crosstab 1,2 < in", None, refused=["cannot tell"])
    put("awk", "mawk", "pays.txt", """mawk -F, 'NR > 1 {printf "%s\\t%s\\t%.3f\\n", $1, $2, $3}' in""",
        (True, {}, [(u, v, {"weight": w}) for u, v, w in ROWS]))
    r = lambda name, call, graph=TOLD, **more: put("R", "r-base-core", name, f"R -q --no-save -s -e 'd <- read.csv(\"in\"); {call}'", graph,
                                                   **(more or ALL))
    r("pays.csv", 'write.csv(d, "out", row.names=FALSE)')
    r("pays-rows.csv", 'write.csv(d, "out")', maybe=["column1"], **ALL)
    r("pays-half.csv", 'd$amount <- d$amount / 8; write.csv2(d, "out", row.names=FALSE)',
      (True, {}, [(u, v, {"amount": w / 8}) for u, v, w in ROWS]), **{"with": "property=all decimal-comma"})
    r("pays-table.txt", 'write.table(d, "out")', maybe=["row"], **ALL)
    r("pays-plain.tsv", 'write.table(d, "out", sep="\\t", quote=FALSE, row.names=FALSE)')
    r("pays-na.csv", 'd$amount[2] <- NA; write.csv(d, "out", row.names=FALSE)',
      (True, {}, [(u, v, {"amount": w if w != -4 else None}) for u, v, w in ROWS]))
    r("pays.rds", 'saveRDS(d, "out")', None, refused=["binary"])
    r("pays-dput.txt", 'dput(d, "out")', None, refused=["column"])
    calc = lambda name, convert, graph=TOLD, **more: put(
        "soffice", "libreoffice-calc-nogui", name,
        f"mkdir o && soffice --headless --convert-to {convert} --outdir o in.csv >/dev/null 2>&1 && mv o/* out", graph, **(more or ALL))
    calc("pays.csv", "'csv:Text - txt - csv (StarCalc):44,34,76,1'")
    calc("pays-semicolon.csv", "'csv:Text - txt - csv (StarCalc):59,34,76,1,,0,true,true'")
    calc("pays-utf16.csv", "'csv:Text - txt - csv (StarCalc):9,34,65535,1'", None, refused=["UTF-16", "iconv"])
    calc("pays.ods", "ods", None, refused=["spreadsheet", "CSV"])
    calc("pays.slk", "slk", None, refused=["column"])
    calc("pays.dif", "dif", None, refused=["column"])
    calc("pays.html", "html", None, refused=["HTML"])
    put("ssconvert", "gnumeric", "pays.txt", "ssconvert -T Gnumeric_stf:stf_assistant -O 'separator=\"|\"' in.csv out", TOLD, **ALL)


def packet(source: str, target: str, port: int, second: int) -> bytes:
    """A UDP packet of a capture file."""
    address = lambda text: bytes(map(int, text.split(".")))
    udp = struct.pack(">HHHH", 40000 + second, port, 12, 0) + b"data"
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), second, 0, 64, 17, 0) + address(source) + address(target)
    frame = b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + ip + udp
    return struct.pack("<IIII", 1709283600 + second, 250000, len(frame), len(frame)) + frame


def captures() -> None:
    flows = [("10.0.0.5", "10.0.0.1", 53), ("10.0.0.1", "10.0.0.7", 5353), ("10.0.0.7", "10.0.0.5", 9999), ("10.0.0.5", "10.0.0.1", 53)]
    pcap = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    pcap += b"".join(packet(*flow, second) for second, flow in enumerate(flows))
    shark = lambda name, call, graph, **more: put("tshark", "tshark", name, f"tshark -n -r in {call}", graph, pcap, **more)
    fields = "-T fields -e frame.number -e ip.src -e ip.dst -e udp.dstport -e frame.len"
    told = [(u, v, {"frame.number": at + 1, "udp.dstport": port, "frame.len": 46}) for at, (u, v, port) in enumerate(flows)]
    shark("packets.tsv", f"{fields} -E header=y", (True, {}, told), **ALL)
    shark("packets.csv", f"{fields} -E header=y -E separator=, -E quote=d", (True, {}, told), **ALL)
    numbered = [(u, v, {"column1": d["frame.number"], "column4": d["udp.dstport"], "column5": d["frame.len"]}) for u, v, d in told]
    shark("packets-nohead.tsv", fields, (True, {}, numbered), **ALL)
    shark("packets.txt", "", None, refused=["cannot tell"])
    shark("packets.json", "-T json", None, refused=["JSON"])
    shark("packets.ek.json", "-T ek", None, refused=["JSON"])
    shark("packets.psml", "-T psml", None, refused=["XML"])
    shark("conversations.txt", "-q -z conv,ip", None, refused=["dashes"])
    put("tshark", "tshark", "packets.pcap", "cat in", None, pcap, refused=["binary"])


def repositories() -> None:
    make = ("export GIT_AUTHOR_DATE='2024-03-01T09:00:00Z' GIT_COMMITTER_DATE='2024-03-01T09:00:00Z'; git init -q r; cd r; "
            "git config user.name Ann; git config user.email ann@x; for n in 1 2; do echo $n >> a.txt; echo $n > b$n.txt; git add .; "
            "git commit -qm $n; done; git checkout -qb side HEAD~1; echo 3 > c.txt; git add .; git commit -qm 3; git checkout -q -; "
            "git merge -q --no-edit side; ")
    put("git", "git", "parents.txt", make + "git log --format='%h %p'", None, refused=["column"])
    put("git", "git", "numstat.txt", make + "git log --numstat --format=%an", None, refused=["column"])
    put("git", "git", "authors.csv", make + "git log --name-only --format= | sort | uniq | sed 's/^/Ann,/'",
        (True, {}, [("Ann", name) for name in ("a.txt", "b1.txt", "b2.txt", "c.txt")]))
    put("git", "git", "drawn.txt", make + "git log --graph --oneline", None, refused=["column"])


if __name__ == "__main__":
    graphs()
    tables()
    captures()
    repositories()
