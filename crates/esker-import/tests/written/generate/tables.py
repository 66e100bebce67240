"""Files of the corpus that are tables, as libraries of Python write them.

    pip install pandas polars pyarrow duckdb
    PYTHONHASHSEED=0 python tables.py
"""

import csv
import sqlite3
import sys
from datetime import date, datetime, timedelta, timezone
from importlib.metadata import version

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet

from told import Verbatim, path, tell

ALL = {"with": "property=all"}
NAMES = ["ann", "bob", "cleo", "dan", "eve", "fay", "gus"]


def pairs(rows: int) -> list:
    """A source and a target for each row, without a pattern."""
    return [(row * row + row // 3, row * 5 + 2 + row % 4) for row in range(rows)]


def transfers(rows: int = 9) -> pd.DataFrame:
    """Transfers between accounts, whose numbers have leading zeros."""
    day = date(2024, 2, 26)
    return pd.DataFrame({
        "date": [day + timedelta(days=row) for row in range(rows)],
        "from": [f"00{17 + u % 5}" for u, _ in pairs(rows)],
        "to": [f"00{17 + v % 5}" for _, v in pairs(rows)],
        "amount": [round(12.5 * row - 20, 2) for row in range(rows)],
        "text": ["rent", "food, drinks", 'the "old" car', "", "übrig", "a;b", "x", "tab\there", "end"][:rows],
    })


def calls(rows: int = 8) -> pd.DataFrame:
    """Calls between people: no column has a usual name of an end but the pair."""
    start = datetime(2024, 3, 1, 9, 30)
    return pd.DataFrame({
        "started": [start + timedelta(minutes=7 * row) for row in range(rows)],
        "caller": [NAMES[u % 7] for u, _ in pairs(rows)],
        "callee": [NAMES[v % 7] for _, v in pairs(rows)],
        "seconds": [row * 31 % 200 for row in range(rows)],
        "answered": [row % 3 != 0 for row in range(rows)],
    })


def numbered(rows: int = 8) -> pd.DataFrame:
    """Edges between integers, with a weight."""
    return pd.DataFrame({
        "source": [u % 6 for u, _ in pairs(rows)],
        "target": [v % 6 for _, v in pairs(rows)],
        "weight": [0.1 + row / 4 for row in range(rows)],
    })


def of_frame(frame: pd.DataFrame, source: str, target: str, directed: bool = True, **renamed: str) -> tuple:
    """The graph of a table: its other columns are properties of the edges."""
    rest = [name for name in frame.columns if name not in (source, target)]
    edges = []
    for row in frame.to_dict("records"):
        values = {renamed.get(name, name): row[name] for name in rest}
        values = {name: of.to_pydatetime() if isinstance(of, pd.Timestamp) else of for name, of in values.items()}
        edges.append((row[source], row[target], values))
    return directed, {}, edges


def write(library: str, name: str, call: str, graph: tuple | None, variables: dict, **more: object) -> None:
    file = path(library, name)
    if "refused" in more and "with" not in more:
        graph = None
    exec(call, {**globals(), **variables, "path": file})
    by = f"Python {sys.version.split()[0]}" if library == "python" else f"{library} {version(library)}"
    tell(file, by, call, graph, **more)


def pandas_files() -> None:
    frames = {"transfers": transfers(), "calls": calls(), "numbered": numbered()}
    ends = {"transfers": ("from", "to"), "calls": ("caller", "callee"), "numbered": ("source", "target")}

    def put(name: str, call: str, table: str, frame: pd.DataFrame | None = None, graph: tuple | None = None,
            **more: object) -> None:
        frame = frames[table] if frame is None else frame
        more = more or ALL
        write("pandas", name, call, graph or of_frame(frame, *ends[table]), {"frame": frame}, **more)

    put("transfers.csv", "frame.to_csv(path, index=False)", "transfers")
    put("transfers-index.csv", "frame.to_csv(path)", "transfers", maybe=["column1"], **ALL)
    put("numbered-index.csv", "frame.to_csv(path)", "numbered", maybe=["column1"], **ALL)
    put("numbered-twice.csv", "frame.to_csv(path); pd.read_csv(path).to_csv(path)", "numbered",
        graph=of_frame(frames["numbered"].assign(**{"Unnamed: 0": range(8)}), "source", "target"),
        maybe=["column1"], **ALL)
    put("transfers-semicolon.csv", "frame.to_csv(path, index=False, sep=';')", "transfers")
    put("transfers-comma.csv", "frame.to_csv(path, index=False, sep=';', decimal=',')", "transfers",
        **{"with": "property=all decimal-comma"})
    put("transfers.tsv", "frame.to_csv(path, index=False, sep='\\t')", "transfers")
    put("transfers-bar.csv", "frame.to_csv(path, index=False, sep='|')", "transfers")
    put("calls-bom.csv", "frame.to_csv(path, index=False, encoding='utf-8-sig')", "calls")
    put("calls-utf16.csv", "frame.to_csv(path, index=False, encoding='utf-16')", "calls", refused=["UTF-16", "iconv"])
    put("transfers-latin1.csv", "frame.to_csv(path, index=False, encoding='latin-1')", "transfers",
        graph=of_frame(frames["transfers"].replace("übrig", "\ufffdbrig"), "from", "to"),
        warned=["not UTF-8", "iconv"], **ALL)
    put("calls-crlf.csv", "frame.to_csv(path, index=False, lineterminator='\\r\\n')", "calls")
    put("calls-cr.csv", "frame.to_csv(path, index=False, lineterminator='\\r')", "calls", refused=["carriage returns", "tr"])
    put("transfers-quoted.csv", "frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL)", "transfers")
    put("transfers-escaped.csv", "frame.to_csv(path, index=False, doublequote=False, escapechar='\\\\')", "transfers",
        graph=of_frame(frames["transfers"].replace('the "old" car', 'the \\"old\\" car'), "from", "to"),
        warned=["backslashes"], **ALL)
    put("calls.csv.gz", "frame.to_csv(path, index=False)", "calls")
    put("calls.csv.zip", "frame.to_csv(path, index=False)", "calls", refused=["zip archive"])
    put("calls.csv.xz", "frame.to_csv(path, index=False)", "calls", refused=["xz"])
    put("calls-nohead.csv", "frame.to_csv(path, index=False, header=False)", "calls",
        graph=of_frame(frames["calls"], "caller", "callee", started="column1", seconds="column4", answered="column5"))
    put("numbered-nohead.csv", "frame.to_csv(path, index=False, header=False)", "numbered")
    # A missing id makes all ids of a column floats.
    floats = frames["numbered"].astype({"source": float, "target": float})
    put("numbered-floats.csv", "frame.to_csv(path, index=False)", "numbered", floats, of_frame(frames["numbered"], "source", "target"))
    holes = frames["numbered"].astype({"source": float, "target": float})
    holes.loc[3, "target"] = None
    put("numbered-holes.csv", "frame.to_csv(path, index=False)", "numbered", holes,
        of_frame(holes.dropna().astype({"source": int, "target": int}), "source", "target"),
        refused=["numbered-holes.csv:5", "bad_lines"], **{"with": "bad-lines"})
    empty = frames["transfers"].astype({"amount": object})
    empty.loc[[2, 5], "amount"] = None
    put("transfers-missing.csv", "frame.to_csv(path, index=False)", "transfers", empty)
    put("transfers-na.csv", "frame.to_csv(path, index=False, na_rep='NA')", "transfers", empty)
    put("transfers-format.csv", "frame.to_csv(path, index=False, float_format='%.3e')", "transfers")
    thousands = frames["transfers"].assign(amount=[f"{1000 * row + 0.5:,.2f}" for row in range(9)])
    put("transfers-thousands.csv", "frame.to_csv(path, index=False)", "transfers", thousands,
        of_frame(frames["transfers"].assign(amount=[1000 * row + 0.5 for row in range(9)]), "from", "to"))
    german = frames["transfers"].assign(date=frames["transfers"]["date"].map("{:%d.%m.%Y}".format))
    put("transfers-german.csv", "frame.to_csv(path, index=False, sep=';', decimal=',', encoding='utf-8-sig')",
        "transfers", german, of_frame(frames["transfers"], "from", "to"),
        **{"with": "property=all decimal-comma date-format=%d.%m.%Y"})
    american = frames["transfers"].assign(date=frames["transfers"]["date"].map("{:%m/%d/%Y}".format))
    put("transfers-american.csv", "frame.to_csv(path, index=False)", "transfers", american)
    put("calls-zone.csv", "frame.assign(started=frame['started'].dt.tz_localize('Europe/Berlin')).to_csv(path, index=False)",
        "calls", graph=of_frame(frames["calls"].assign(started=pd.Series(
            [Verbatim((t - timedelta(hours=1)).isoformat() + "Z") for t in frames["calls"]["started"]], dtype=object)),
            "caller", "callee"))
    put("calls-epoch.csv", "frame.assign(started=frame['started'].astype('datetime64[s]').astype('int64')).to_csv(path, index=False)", "calls",
        graph=of_frame(frames["calls"].assign(started=[int(t.replace(tzinfo=timezone.utc).timestamp())
                                                       for t in frames["calls"]["started"]]), "caller", "callee"))
    group = frames["transfers"].groupby(["from", "to"])[["amount"]].agg(["sum", "count"])
    put("transfers-two-heads.csv", "frame.to_csv(path)", "transfers", group, (True, {}, []), refused=["header"])
    put("transfers-group.csv", "frame.groupby(['from', 'to'])['amount'].sum().to_csv(path)", "transfers",
        graph=(True, {}, [(u, v, {"amount": w}) for (u, v), w in
                          frames["transfers"].groupby(["from", "to"])["amount"].sum().items()]))
    put("transfers-total.csv", "frame.groupby(['from', 'to'], as_index=False)['amount'].sum().to_csv(path, index=False); "
        "open(path, 'a').write('Total,,%s\\n' % frame['amount'].sum())", "transfers",
        graph=(True, {}, [(u, v, {"amount": w}) for (u, v), w in
                          frames["transfers"].groupby(["from", "to"])["amount"].sum().items()]),
        refused=["empty", "bad_lines"], **{"with": "property=all bad-lines"})
    put("transfers-cross.csv", "pd.crosstab(frame['from'], frame['to']).to_csv(path)", "transfers", refused=["cannot tell"])
    put("calls.txt", "open(path, 'w').write(frame[['caller', 'callee']].to_string(index=False))", "calls",
        frames["calls"][["caller", "callee"]])
    put("calls.md", "open(path, 'w').write('| caller | callee |\\n|---|---|\\n' + ''.join(f'| {a} | {b} |\\n' for a, b in "
        "zip(frame.caller, frame.callee)))", "calls", refused=["dashes", "CSV"])
    put("calls.html", "frame.to_html(path)", "calls", refused=["HTML"])
    put("calls-records.json", "frame.to_json(path, orient='records')", "calls", refused=["JSON"])
    put("calls-lines.jsonl", "frame.to_json(path, orient='records', lines=True)", "calls", refused=["JSON"])
    put("calls-split.json", "frame.to_json(path, orient='split')", "calls", refused=["JSON"])
    put("transfers.parquet", "frame.to_parquet(path)", "transfers")
    put("calls.feather", "frame.to_feather(path)", "calls")
    put("calls.pkl", "frame.to_pickle(path)", "calls", refused=["binary"])
    put("transfers-missing.parquet", "frame.to_parquet(path)", "transfers",
        frames["transfers"].assign(amount=[None if row % 4 == 1 else row / 8 for row in range(9)]))
    wide = pd.DataFrame({"source": [2**53 + 1, 7, 2**62], "target": [7, 2**53 + 3, 1], "weight": [2**53 + 1, 2, 3]})
    put("wide.csv", "frame.to_csv(path, index=False)", "numbered", wide)
    put("named-edges.csv", "frame.rename(columns=str.upper).to_csv(path, index=False)", "numbered",
        graph=of_frame(frames["numbered"].rename(columns={"weight": "WEIGHT"}), "source", "target"))
    described = frames["calls"][["caller", "callee"]].value_counts().reset_index(name="n")
    put("calls-counts.csv", "frame.to_csv(path, index=False)", "calls", described)
    put("calls-friends.csv", "frame[['caller', 'callee']].set_axis(['person', 'friend'], axis=1).to_csv(path, index=False)",
        "calls", frames["calls"][["caller", "callee"]])


def python_files() -> None:
    """The module csv, and what people write by hand with it."""
    rows = [("ann", "bob", 3), ("bob", "cleo", -4), ("cleo", "ann", 10), ("dan", "ann", 2), ("dan", "eve", 7)]
    told = (True, {}, [(u, v, {"amount": w}) for u, v, w in rows])
    put = lambda name, call, graph=told, **more: write("python", name, call, graph, {"rows": rows}, **(more or ALL))
    head = "w.writerow(['sender', 'receiver', 'amount']); w.writerows(rows)"
    put("excel.csv", f"w = csv.writer(open(path, 'w', newline='')); {head}")
    put("excel-tab.csv", f"w = csv.writer(open(path, 'w', newline=''), 'excel-tab'); {head}")
    put("unix.csv", f"w = csv.writer(open(path, 'w', newline=''), 'unix'); {head}")
    put("nonnumeric.csv", f"w = csv.writer(open(path, 'w', newline=''), quoting=csv.QUOTE_NONNUMERIC); {head}")
    put("single-quotes.csv", f"w = csv.writer(open(path, 'w', newline=''), quoting=csv.QUOTE_ALL, quotechar=\"'\"); {head}",
        refused=["single quotes"])
    put("sep-line.csv", f"f = open(path, 'w', newline=''); f.write('sep=;\\r\\n'); w = csv.writer(f, delimiter=';'); {head}")
    put("comments.csv", f"f = open(path, 'w', newline=''); f.write('# exported 2024-03-01\\n# by nobody\\n\\n'); "
        f"w = csv.writer(f); {head}")
    put("title.csv", f"f = open(path, 'w', newline=''); f.write('Payments of March\\n\\n'); w = csv.writer(f); {head}",
        refused=["column"])
    put("blank-lines.csv", f"f = open(path, 'w', newline=''); w = csv.writer(f); {head}; f.write('\\n\\n  \\n')")
    put("empty-rows.csv", f"f = open(path, 'w', newline=''); w = csv.writer(f); {head}; f.write(',,\\n,,\\n')",
        refused=["bad_lines"], **{"with": "property=all bad-lines"})
    put("trailing-comma.csv", "open(path, 'w').writelines(','.join(map(str, row)) + ',\\n' for row in "
        "[('sender', 'receiver', 'amount'), *rows])")
    put("spaces.csv", "open(path, 'w').writelines(', '.join(map(str, row)) + '\\n' for row in "
        "[('sender', 'receiver', 'amount'), *rows])")
    put("aligned.txt", "open(path, 'w').writelines('%-8s%-10s%6s\\n' % row for row in [('sender', 'receiver', 'amount'), *rows])")
    put("bad-amount.csv", "open(path, 'w').writelines('%s,%s,%s\\n' % row for row in [('sender', 'receiver', 'amount'), "
        "*rows, ('eve', 'ann', '?'), *rows])", (True, {}, [(u, v, {"amount": str(w)}) for u, v, w in
                                                           [*rows, ("eve", "ann", "?"), *rows]]),
        warned=["amount"], **ALL)
    put("bad-id.csv", "open(path, 'w').write('source,target\\n1,2\\n2,3\\n3,1\\n4,x?\\n5,4\\n')",
        (True, {}, [(1, 2), (2, 3), (3, 1), (4, "x?"), (5, 4)]), refused=["not an integer", "ids"], **{"with": "ids=text"})
    put("short-row.csv", "open(path, 'w').write('sender,receiver,amount\\nann,bob,3\\nbob\\nann,cleo,4\\n')",
        (True, {}, [("ann", "bob", {"amount": 3}), ("ann", "cleo", {"amount": 4})]), refused=[":3", "bad_lines"],
        **{"with": "property=all bad-lines"})
    put("multiline.csv", "w = csv.writer(open(path, 'w', newline='')); w.writerows([('from', 'to', 'note'), "
        "('ann', 'bob', 'two\\nlines'), ('bob', 'ann', 'a \"quote\"')])",
        (True, {}, [("ann", "bob", {"note": "two\nlines"}), ("bob", "ann", {"note": 'a "quote"'})]))
    put("negative-ids.csv", "open(path, 'w').write('source,target\\n-1,2\\n2,-3\\n-3,-1\\n')",
        (True, {}, [(-1, 2), (2, -3), (-3, -1)]), refused=["text"], **{"with": "ids=text"})
    put("reversed.csv", "open(path, 'w').write('target,source\\nbob,ann\\ncleo,bob\\n')",
        (True, {}, [("ann", "bob"), ("bob", "cleo")]))
    put("tuples.txt", "open(path, 'w').write(''.join(f'{row[:2]}\\n' for row in rows))", refused=["("])
    put("list.txt", "open(path, 'w').write(str([row[:2] for row in rows]))", refused=["column"])
    put("arrows.txt", "open(path, 'w').writelines('%s -> %s\\n' % row[:2] for row in rows)", (True, {}, [row[:2] for row in rows]), maybe=["column2"], **ALL)
    put("dashes.txt", "open(path, 'w').writelines('%s--%s\\n' % row[:2] for row in rows)", refused=["one column"])
    connection = sqlite3.connect(":memory:")
    connection.executescript("create table pays(sender text, receiver text, amount int);"
                             + "".join(f"insert into pays values{row};" for row in rows))
    write("python", "dump.sql", "open(path, 'w').write('\\n'.join(connection.iterdump()))", None, {"connection": connection},
          refused=["empty"])


def polars_files() -> None:
    frame = pl.from_pandas(calls())
    told = of_frame(calls(), "caller", "callee")
    holes = frame.with_columns(seconds=pl.when(pl.col("seconds") > 90).then(None).otherwise(pl.col("seconds")))
    rows = [(u, v, {**d, "seconds": None if d["seconds"] > 90 else d["seconds"]}) for u, v, d in told[2]]
    put = lambda name, call, graph=told, frame=frame, **more: write(
        "polars", name, call, graph, {"frame": frame}, **(more or ALL))
    put("calls.csv", "frame.write_csv(path)")
    put("calls-semicolon.csv", "frame.write_csv(path, separator=';', include_bom=True, line_terminator='\\r\\n')")
    put("calls-always.csv", "frame.write_csv(path, quote_style='always')")
    put("calls-format.csv", "frame.write_csv(path, datetime_format='%d/%m/%Y %H:%M')",
        (True, {}, [(u, v, {**d, "started": f"{d['started']:%d/%m/%Y %H:%M}"}) for u, v, d in told[2]]))
    put("holes.csv", "frame.write_csv(path, null_value='null')", (True, {}, rows), holes)
    put("calls.parquet", "frame.write_parquet(path)")
    put("holes.parquet", "frame.write_parquet(path)", (True, {}, rows), holes)
    put("calls.arrow", "frame.write_ipc(path)")
    put("calls-lz4.arrow", "frame.write_ipc(path, compression='lz4')")
    put("calls.ndjson", "frame.write_ndjson(path)", refused=["JSON"])
    nested = pl.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "tags": [["x", "y"], []], "weight": [1.5, 2.0]})
    put("nested.parquet", "frame.write_parquet(path)",
        (True, {}, [("a", "b", {"weight": 1.5}), ("b", "c", {"weight": 2.0})]), nested, warned=["tags"], **ALL)


def arrow_files() -> None:
    table = pa.table({
        "src": pa.array(["x1", "x2", "x1"]).dictionary_encode(),
        "dst": pa.array(["x2", "x3", "x3"], pa.large_string()),
        "weight": pa.array([1, 2, 3], pa.uint8()),
        "cost": pa.array([1.5, None, 2.25], pa.float32()),
        "day": pa.array([date(2024, 1, 5), date(1969, 12, 31), date(2024, 1, 7)]),
        "at": pa.array([datetime(2024, 1, 5, 10, 0, 0, 250000), None, datetime(2024, 1, 6)], pa.timestamp("us", "UTC")),
        "open": pa.array([True, False, None]),
    })
    told = (True, {}, [(row["src"], row["dst"], {name: row[name] for name in table.column_names[2:]})
                       for row in table.to_pylist()])
    for *_, values in told[2]:
        if values["at"] is not None:
            values["at"] = Verbatim(values["at"].strftime("%Y-%m-%dT%H:%M:%S.%f").rstrip("0").rstrip(".") + "Z")
    whole = table.slice(0, 1)
    put = lambda name, call, graph=told, table=table, **more: write(
        "pyarrow", name, call, graph, {"table": table}, **(more or ALL))
    put("typed.parquet", "pyarrow.parquet.write_table(table, path)")
    put("typed-whole.parquet", "pyarrow.parquet.write_table(table, path, version='1.0', compression='zstd')",
        (True, {}, told[2][:1]), whole)
    put("typed.feather", "pyarrow.feather.write_feather(table, path, 'uncompressed')")
    put("typed-whole.arrows", "pa.ipc.new_stream(path, table.schema).write_table(table)", (True, {}, told[2][:1]), whole)
    put("typed.csv", "pyarrow.csv.write_csv(table, path)")
    put("typed.orc", "pyarrow.orc.write_table(table.drop(['src', 'weight']), path)", refused=["binary"])
    decimal = pa.table({"source": [1, 2], "target": [2, 3], "amount": pa.array(["1.25", "-3.5"]).cast(pa.decimal128(12, 2))})
    put("decimal.parquet", "pyarrow.parquet.write_table(table, path)",
        (True, {}, [(1, 2, {"amount": 1.25}), (2, 3, {"amount": -3.5})]), decimal)


def duckdb_files() -> None:
    connection = duckdb.connect()
    connection.execute("create table flows as select * from (values "
                       "('10.0.0.1', '10.0.0.7', 443, 1200::bigint, timestamp '2024-05-01 10:00:00.123'),"
                       "('10.0.0.7', '10.0.0.1', 51320, 88, timestamp '2024-05-01 10:00:00.5'),"
                       "('10.0.0.2', '10.0.0.7', 53, 76, timestamp '2024-05-01 10:00:01')) "
                       "t(src_ip, dst_ip, dst_port, bytes, ts)")
    rows = connection.execute("select * from flows").fetchall()
    told = (True, {}, [(u, v, {"dst_port": port, "bytes": size, "ts": Verbatim(ts.isoformat().rstrip("0") if ts.microsecond
                                                                              else ts.isoformat())})
                       for u, v, port, size, ts in rows])
    put = lambda name, call, graph=told, **more: write(
        "duckdb", name, f'connection.execute(f"{call}")', graph, {"connection": connection}, **(more or ALL))
    put("flows.csv", "copy flows to '{path}'")
    put("flows-bar.csv", "copy flows to '{path}' (delim '|')")
    put("flows-nohead.csv", "copy flows to '{path}' (header false)",
        (True, {}, [(u, v, {"column3": d["dst_port"], "column4": d["bytes"], "column5": d["ts"]}) for u, v, d in told[2]]))
    put("flows.csv.zst", "copy flows to '{path}' (compression zstd)")
    put("flows.parquet", "copy flows to '{path}'")
    put("flows.json", "copy flows to '{path}'", refused=["JSON"])
    put("flows-array.json", "copy flows to '{path}' (array true)", refused=["JSON"])
    put("null.csv", "copy (select src_ip, dst_ip, nullif(dst_port, 53) port from flows) to '{path}' (nullstr '\\\\\\\\N')",
        (True, {}, [(u, v, {"port": None if d["dst_port"] == 53 else d["dst_port"]}) for u, v, d in told[2]]))


if __name__ == "__main__":
    pandas_files()
    python_files()
    polars_files()
    arrow_files()
    duckdb_files()
