"""The extension of DuckDB: its tables say what the package says of the same database."""

import datetime
import pathlib
import subprocess

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import esker

BUILT = pathlib.Path(esker.__file__).parent.joinpath("_esker.abi3.so").resolve().parent


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    """The extension, of the library that the tests compiled."""
    file = tmp_path_factory.mktemp("duckdb") / "esker.duckdb_extension"
    subprocess.run([BUILT / "xtask", "duckdb", BUILT / "libesker_duckdb.so", file], check=True, stdout=subprocess.DEVNULL)
    return file


@pytest.fixture
def sql(extension):
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"load '{extension}'")
    return connection


def payments(seed=1, count=3000, people=200):
    random = np.random.default_rng(seed)
    amounts = [None if random.random() < 0.1 else round(float(x), 2) for x in random.exponential(100, count)]
    notes = [None if random.random() < 0.1 else str(x) for x in random.choice(["", "rent", "gift", "a'b", "ü"], count)]
    return pa.table(
        {
            "source": [f"p{x}" for x in random.integers(0, people, count)],
            "target": [f"p{x}" for x in random.integers(0, people, count)],
            "amount": pa.array(amounts, pa.float64()),
            "note": notes,
            "small": pa.array(random.integers(-5, 5, count), pa.int32()),
            "large": pa.array([int(x) for x in random.integers(0, 2**63, count)], pa.int64()),
            "paid": pa.array(random.integers(0, 2, count).astype(bool)),
            "day": pa.array(random.integers(18000, 20000, count).astype(np.int32), pa.date32()),
            "at": pa.array(random.integers(10**15, 2 * 10**15, count), pa.timestamp("us")),
        }
    )


@pytest.fixture(scope="module", params=["list", "compressed", "undirected", "hub"])
def database(request, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("payments") / "pay.esker")
    table = payments()
    if request.param == "hub":
        # More edges of one vertex than DuckDB takes at a time.
        table = table.set_column(0, "source", [["p0"] * len(table)])
    file = tmp_path_factory.mktemp("file") / "pay.parquet"
    pq.write_table(table, file)
    options = {"encoding": "compressed"} if request.param == "compressed" else {}
    options |= {"directed": request.param != "undirected", "duplicates": "keep", "properties": "all"}
    with esker.import_(file, path, source="source", target="target", **options) as db:
        late = {"amount": 1.5, "note": "late", "small": 1, "large": 7, "paid": True, "day": datetime.date(2024, 2, 29), "at": datetime.datetime(2024, 2, 29, 1, 2, 3)}
        with db.batch("more") as batch:
            batch.add_edges(["new"], ["p1"], properties={name: [value] for name, value in late.items()})
    return path


def rows(relation):
    return sorted(relation.fetchall(), key=repr)


def test_edges_are_those_of_the_package(sql, database):
    expected = esker.open(database).graph()
    listed = pa.table(expected.edges())
    found = sql.sql(f"from esker_edges('{database}')").to_arrow_table()
    assert found.column_names == listed.column_names
    types = {name: str(found.schema.field(name).type) for name in found.column_names}
    assert types["small"] == "int32" and types["day"] == "date32[day]" and types["at"] == "timestamp[us]" and types["paid"] == "bool"
    assert rows(sql.sql("from found")) == rows(sql.sql("from listed"))
    assert len(found) == expected.number_of_edges()


@pytest.mark.parametrize("condition", ["amount > 100", "note = 'rent' or small < 0", "amount is null", "note like '%''%'"])
def test_conditions_are_those_of_sql(sql, database, condition):
    literal = condition.replace("'", "''")
    by_esker = sql.sql(f"select source, target, amount, large from esker_edges('{database}', filter := '{literal}')")
    by_duckdb = sql.sql(f"select source, target, amount, large from esker_edges('{database}') where {condition}")
    assert rows(by_esker) == rows(by_duckdb)
    assert by_esker.fetchall()


def test_only_the_columns_that_are_asked_for_are_read(sql, database):
    count = sql.sql(f"select count(*) from esker_edges('{database}')").fetchall()[0][0]
    assert count == len(sql.sql(f"select paid from esker_edges('{database}')").fetchall())
    total = sql.sql(f"select sum(small), max(large), min(day) from esker_edges('{database}')").fetchall()[0]
    whole = sql.sql(f"from esker_edges('{database}')").to_arrow_table()
    assert total == sql.sql("select sum(small), max(large), min(day) from whole").fetchall()[0]


def test_versions_are_told_and_read(sql, database):
    versions = sql.sql(f"select version, message from esker_versions('{database}') order by version").fetchall()
    assert [version for version, _ in versions] == [1, 2] and versions[1][1] == "more"
    of = lambda version: sql.sql(f"select count(*) from esker_edges('{database}', version := {version})").fetchall()[0][0]  # noqa: E731
    assert of(2) == of(1) + 1


def test_vertices_have_their_properties(sql, tmp_path):
    path = str(tmp_path / "people.esker")
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges(["ann", "bob"], ["bob", "eve"])
            batch.set_vertices(["ann", "eve"], age=[31, 40], city=["Bern", "Köln"])
    found = sql.sql(f"select vertex, age, city from esker_vertices('{path}') order by vertex").fetchall()
    assert found == [("ann", 31, "Bern"), ("bob", None, None), ("eve", 40, "Köln")]
    assert sql.sql(f"select vertex from esker_vertices('{path}', filter := 'age > 35')").fetchall() == [("eve",)]


@pytest.mark.parametrize("ids", ["dense", "sparse", "text"])
def test_answers_join_with_edges(sql, tmp_path, ids):
    path = str(tmp_path / "web.esker")
    random = np.random.default_rng(3)
    source, target = random.integers(0, 300, 2000), random.integers(0, 300, 2000)
    if ids == "sparse":
        source, target = source * 10**9 + 5, target * 10**9 + 5
    if ids == "text":
        source, target = source.astype(str), target.astype(str)
    with esker.create(path, duplicates="last") as db, db.batch() as batch:
        batch.add_edges(source, target)  # some more than once: the last stays
    graph = esker.open(path).graph()
    found = dict(sql.sql(f"from esker_run('{path}', 'pagerank', damping := 0.9)").fetchall())
    expected = dict(zip(*(column.to_pylist() for column in pa.table(graph.pagerank(damping=0.9)).columns), strict=True))
    assert found.keys() == expected.keys()
    assert all(abs(found[key] - expected[key]) < 1e-9 for key in expected)
    best, count = sql.sql(
        f"select vertex, count(*) from esker_run('{path}', 'wcc', reverse := true) join esker_edges('{path}') on vertex = target "
        "group by vertex order by 2 desc, 1 limit 1"
    ).fetchall()[0]
    assert count == graph.degree(best, direction="in") == graph.degree(direction="in").max()
    reached = sql.sql(f"select count(*) from esker_run('{path}', 'bfs', source := '{best}') where depth is not null").fetchall()[0][0]
    assert reached == sum(depth is not None for depth in pa.table(graph.bfs(best))["depth"].to_pylist())


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("esker_edges('nowhere.esker')", "nowhere.esker"),
        ("esker_edges('{path}', filter := 'colour = 1')", "colour"),
        ("esker_edges('{path}', filter := 'amount >')", "amount"),
        ("esker_edges('{path}', version := 9)", "version 9"),
        ("esker_run('{path}', 'pagernak')", "did you mean pagerank"),
        ("esker_run('{path}', 'triangles', damping := 1)", "triangles"),
        ("esker_run('{path}', 'pagerank', damping := 7)", "damping"),
        ("esker_vertices('{path}', filter := 'source = 1')", "source"),
    ],
)
def test_what_cannot_be_is_an_error_and_the_connection_goes_on(sql, database, call, reason):
    with pytest.raises(duckdb.Error, match=reason):
        sql.sql("from " + call.format(path=database)).fetchall()
    assert sql.sql("select 1").fetchall()[0] == (1,)
