"""Windows over the times of edges."""

import datetime
import pickle
import random

import networkx as nx
import numpy as np
import pytest

import esker

HOUR = 3600
START = int(datetime.datetime(2024, 3, 1, tzinfo=datetime.timezone.utc).timestamp())


@pytest.fixture
def stream():
    """Messages of a day: (sender, receiver, second)."""
    rng = np.random.default_rng(3)
    count = 2_000
    seconds = START + np.sort(rng.integers(0, 24 * HOUR, count))
    ends = rng.integers(0, 60, (2, count))
    db = esker.create(duplicates="keep")
    with db.batch() as batch:
        batch.add_edges([f"v{one}" for one in ends[0]], [f"v{one}" for one in ends[1]], weight=np.ones(count), properties={"sent": seconds})
    return db, [(f"v{u}", f"v{v}", int(t)) for u, v, t in zip(*ends, seconds)]


def between(messages, after, until):
    return nx.MultiDiGraph([(u, v) for u, v, t in messages if after < t <= until])


def test_a_window_is_a_graph_with_every_algorithm(stream):
    db, messages = stream
    end = START + 5 * HOUR - 1
    window = db.window("1h", at=end, time="sent")
    expected = between(messages, end - HOUR, end)
    assert (window.num_vertices, window.num_edges) == (expected.number_of_nodes(), expected.number_of_edges())
    assert window.until == np.datetime64("2024-03-01T04:59:59") and window.after == np.datetime64("2024-03-01T03:59:59")
    assert window.wcc(verify=True).components == nx.number_weakly_connected_components(expected)
    ranks = window.pagerank(tolerance=1e-10)
    for vertex, rank in nx.pagerank(expected, tol=1e-12, weight=None).items():
        assert ranks[vertex] == pytest.approx(rank, abs=1e-7)
    assert len(ranks) == expected.number_of_nodes() and set(ranks) == set(expected)
    assert window.run("pagerank", tolerance=1e-10).top(3) == ranks.top(3)
    source = next(iter(expected))
    assert window.bfs(source).to_dict() == {one: nx.single_source_shortest_path_length(expected, source).get(one) for one in expected}
    outside = next(one for one in db.graph() if one not in expected)
    with pytest.raises(esker.VertexNotFoundError, match="not in the window"):
        ranks[outside]
    assert outside not in ranks and ranks.get(outside) is None
    assert window.wcc(undirected=True).components == window.wcc().components
    both = db.window("1h", at=end, time="sent", all_vertices=True)
    assert both.num_vertices == db.graph().num_vertices and both.num_edges == window.num_edges
    assert pickle.loads(pickle.dumps(ranks)).top(3) == ranks.top(3)


def test_times_and_lengths_of_numpy_are_taken_in_utc(stream):
    db, messages = stream
    one = db.window("1h", at="2024-03-01T04:59:59Z", time="sent")
    for at in (one.until, np.datetime64("2024-03-01T04:59:59.000", "ms"), np.datetime64("2024-03-01T04:59:59.000000000")):
        assert db.window(np.timedelta64(1, "h"), at=at, time="sent")._range == one._range, at
    day = db.window("1d", at="2024-03-01", time="sent")
    assert db.window(np.timedelta64(1, "D"), at=np.datetime64("2024-03-01"), time="sent")._range == day._range
    ends = [window.until for window in db.rolling("1h", start=one.after + np.timedelta64(1, "s"), end=one.until, time="sent")]
    assert ends == [one.until]
    with pytest.raises(esker.InvalidError, match="NaT"):
        db.window("1h", at=np.datetime64("NaT"), time="sent")
    assert db.window("1h", at=np.datetime64("2024-03-01T04:59:59.000000001"), time="sent")._range == one._range
    with pytest.raises(esker.InvalidError, match="finer than a nanosecond"):
        db.window("1h", at=np.datetime64("1970-01-02T00:00:00.000000000001"), time="sent")
    with pytest.raises(esker.InvalidError, match="weeks or a smaller unit"):
        db.window(np.timedelta64(1, "M"), time="sent")
    with db.batch(event_time=np.datetime64("2030-01-01")) as batch:
        batch.add_edges(["a"], ["b"], weight=[1.0], properties={"sent": np.array([START])})
    assert db.graph(at=np.datetime64("2030-01-01T00:00:00")).version == db.graph().version


def test_ends_of_windows_are_exact_to_the_nanosecond(tmp_path):
    first = np.datetime64("2024-03-01T10:00:00", "ns")
    sent = first + np.array([0, 1, 400_000, 999_999], "timedelta64[ns]")
    db = esker.create(tmp_path / "g.esker")
    with db.batch() as batch:
        batch.add_edges(list("abcd"), list("bcde"), properties={"sent": sent})

    def edges_until(at):
        return db.window("1h", at=at, time="sent").num_edges

    moment = datetime.datetime(2024, 3, 1, 10, tzinfo=datetime.timezone.utc)
    assert [edges_until(time) for time in sent] == [1, 2, 3, 4]
    assert [edges_until(moment + datetime.timedelta(microseconds=us)) for us in (0, 399, 400, 999, 1000)] == [1, 2, 3, 3, 4]
    assert edges_until("2024-03-01T10:00:00.000400Z") == 3 and edges_until("2024-03-01T10:00:00.000Z") == 4
    with db.batch(event_time=moment + datetime.timedelta(days=9000, microseconds=7_250)) as batch:
        batch.add_edges(["a"], ["e"], properties={"sent": sent[:1]})
    assert db.graph().time == moment + datetime.timedelta(days=9000, milliseconds=7)


def test_a_window_without_the_source_has_no_rows(stream):
    db, messages = stream
    with db.batch() as batch:
        batch.add_edges(["only"], ["v1"], weight=[1.0], properties={"sent": np.array([START + 30])})
    table = db.rolling("1h", every="1h", time="sent").run("bfs", source="only").to_pandas()
    assert set(table["until"]) == {np.datetime64("2024-03-01T00:59:59")}
    assert table.loc[table["vertex"] == "v1", "depth"].tolist() == [1]


def test_ends_and_lengths_are_given_in_many_ways(stream):
    db, messages = stream
    hour = db.window("1h", at="2024-03-01T04:59:59", time="sent")
    assert repr(hour) == f"<esker.Window of {hour.num_vertices} vertices and {hour.num_edges} edges, after 2024-03-01T03:59:59 until 2024-03-01T04:59:59>"
    for length in (HOUR, "60m", datetime.timedelta(hours=1)):
        for at in (START + 5 * HOUR - 1, datetime.datetime(2024, 3, 1, 4, 59, 59, tzinfo=datetime.timezone.utc)):
            assert db.window(length, at=at, time="sent").num_edges == hour.num_edges
    assert db.window("1d", at="2024-03-01", time="sent").num_edges == db.graph().num_edges == len(messages)
    assert db.window("1d", time="sent").until == np.datetime64(messages[-1][2], "s")
    distinct = db.window("1d", time="sent", copies="distinct")
    assert distinct.num_edges == len({(u, v) for u, v, _ in messages})
    for wrong in ({"length": "1 hour"}, {"copies": "some"}, {"time_unit": "min"}, {"at": "noon"}, {"time": "weight"}, {"time": "received"}):
        with pytest.raises(esker.Error):
            db.window(**{"length": "1h", "time": "sent", **wrong})
    with pytest.raises(TypeError, match="length"):
        db.window(1.5)


def test_rolling_windows_make_one_table(stream):
    db, messages = stream
    windows = db.rolling("2h", every="1h", time="sent")
    assert len(windows) == 24 and len(list(windows)) == 24
    ends = [START + hour * HOUR - 1 for hour in range(1, 25)]
    assert [one.until for one in windows] == [np.datetime64(end, "s") for end in ends]
    assert windows[3].num_edges == between(messages, ends[3] - 2 * HOUR, ends[3]).number_of_edges()
    table = windows.run("wcc")
    frame = table.to_pandas()
    assert len(table) == len(frame) and list(frame.columns) == ["until", "vertex", "component"]
    for end, rows in zip(ends, (rows for _, rows in frame.groupby("until"))):
        expected = between(messages, end - 2 * HOUR, end)
        assert set(rows.vertex) == set(expected)
        assert rows.component.nunique() == nx.number_weakly_connected_components(expected)
    told = []
    top = windows.run("pagerank", top=2, progress=told.append)
    assert len(top) == 48 and told[-1].total == 24 and top.to_polars().columns == ["until", "vertex", "rank"]
    assert windows.run("triangles", undirected=True).to_arrow().num_rows == 24
    some = db.rolling("1h", start=START + 3 * HOUR, end="2024-03-01T05:30", time="sent")
    assert [one.until for one in some] == [np.datetime64(ends[at], "s") for at in (3, 4, 5)]
    with pytest.raises(ValueError, match="no algorithm"):
        windows.run("pagerunk")


def test_expanding_windows_begin_with_the_first_edge(stream):
    db, messages = stream
    counts = [window.num_edges for window in db.expanding("6h", time="sent")]
    assert counts == [sum(t < START + hours * HOUR for _, _, t in messages) for hours in (6, 12, 18, 24)]
    assert repr(db.expanding("6h", time="sent")) == "<esker.Windows: 4 windows of growing length>"


def test_windows_end_with_every_so_many_edges(stream):
    db, messages = stream
    times = sorted(time for _, _, time in messages)
    ends, left = [], times
    while len(left) >= 300:
        ends.append(left[299])
        left = [time for time in times if time > ends[-1]]
    ends += left[-1:]
    windows = db.rolling("1h", every_edges=300, time="sent")
    assert [one.until for one in windows] == [np.datetime64(end, "s") for end in ends]
    assert [one.num_edges for one in windows] == [sum(end - HOUR < time <= end for time in times) for end in ends]
    grown = db.expanding(every_edges=300, time="sent", end=times[1000])
    assert [one.num_edges for one in grown] == [sum(time <= end for time in times) for end in [*(end for end in ends if end <= times[1000]), times[1000]][:4]]
    for wrong, message in (({"every_edges": 0}, "at least 1"), ({"every_edges": 5, "every": "1h"}, "exclude"), ({}, "missing")):
        with pytest.raises(esker.InvalidError, match=message):
            db.expanding(time="sent", **wrong)
    with pytest.raises(TypeError, match="every_edges"):
        db.rolling("1h", every_edges="5", time="sent")


def test_a_table_over_windows_has_what_a_run_on_each_has(stream):
    db, _ = stream
    for copies in ("all", "distinct", "count"):
        windows = db.rolling("6h", every="1h", time="sent", copies=copies)
        for algorithm, options in (("wcc", {}), ("pagerank", {}), ("pagerank", {"undirected": True}), ("kcore", {"undirected": True}), ("scc", {})):
            table = windows.run(algorithm, **options).to_pandas()
            assert len(windows) > 20 and len(table) > len(windows)
            for window in windows:
                found = table[table["until"] == window.until]
                alone = window.run(algorithm, **options).to_pandas()
                column = alone.columns[1]
                assert list(found[alone.columns[0]]) == list(alone[alone.columns[0]])
                if column == "rank":
                    np.testing.assert_allclose(found[column], alone[column], atol=1e-6)
                else:
                    assert list(found[column]) == list(alone[column])


def test_old_edges_expire(stream):
    db, messages = stream
    latest = max(t for _, _, t in messages)
    gone = sum(t <= latest - 6 * HOUR for _, _, t in messages)
    assert db.expire("6h", time="sent", message="the last hours") == gone
    assert db.graph().num_edges == len(messages) - gone and db.graph(version=1).num_edges == len(messages)
    assert db.expire("6h", time="sent") == 0
    with pytest.raises(esker.InvalidError, match="length of time"):
        db.expire("a while", time="sent")


def test_a_declared_stream_needs_no_names(stream):
    db, messages = stream
    assert db.declared_stream is None
    with pytest.raises(esker.InvalidError, match="keeps no age"):
        db.expire()
    with pytest.raises(esker.InvalidError, match="no edge property that can hold times"):
        db.declare_stream(time="nothing")
    db.declare_stream(time="sent", time_unit="s", delay="10s", expire="6h")
    assert db.declared_stream == {"time": "sent", "time_unit": "s", "delay": "10s", "expire": "6h"}
    latest = max(t for _, _, t in messages)
    young = [t for _, _, t in messages if t > latest - 6 * HOUR]
    assert db.window("1h").num_edges == sum(t > latest - HOUR for t in young)
    assert db.expire() == len(messages) - len(young)
    db.declare_stream(delay=False, expire="3h")
    assert db.declared_stream == {"time": "sent", "time_unit": "s", "delay": None, "expire": "3h"}
    db.compact()
    assert db.graph().num_edges == sum(t > latest - 3 * HOUR for t in young)
    db.declare_stream(expire=False)
    assert db.declared_stream["expire"] is None


def test_windows_of_several_lengths_end_together(stream):
    db, messages = stream
    windows = db.rolling(["6h", "1h"], time="sent", start=START + 6 * HOUR, end=START + 8 * HOUR)
    assert repr(windows) == "<esker.Windows: 6 windows of 6h, 1h>" and len(windows) == 6
    spans = [(int(window.until.astype(int)), int((window.until - window.after).astype(int))) for window in windows]
    # The shortest length is the step.
    ends = [START + hour * HOUR - 1 for hour in (7, 8, 9)]
    assert spans == [(end, length) for end in ends for length in (6 * HOUR, HOUR)]
    last = windows[-1]
    assert (last.until, last.num_edges) == (windows[5].until, windows[5].num_edges) and windows[-2].num_edges > last.num_edges
    with pytest.raises(IndexError):
        windows[6]
    table = windows.run("wcc", top=1).to_pandas()
    assert list(table.columns) == ["until", "length", "component", "vertices"] and list(table["length"]) == ["6h", "1h"] * 3
    for at, window in enumerate(windows):
        assert table["vertices"][at] == window.wcc().top(1)[0][1]
    assert "length" not in db.rolling("6h", time="sent").run("wcc", top=1).to_pandas()
    with pytest.raises(esker.InvalidError, match="length is empty"):
        db.rolling([], time="sent")


def test_steps_are_aligned_to_the_first_edge_or_a_time():
    db = esker.create(duplicates="keep")
    with db.batch() as batch:
        batch.add_edges(["a"] * 4, ["b"] * 4, properties={"sent": [START + at for at in (1800, 5399, 5400, 9000)]})

    def ends(**align):
        windows = db.rolling("1h", time="sent", **align)
        return [(int(window.until.astype(int)) - START, window.num_edges) for window in windows]

    assert ends() == ends(align="calendar") == [(3599, 1), (7199, 2), (10799, 1)]
    assert ends(align="first") == [(5399, 2), (8999, 1), (12599, 1)]
    moment = datetime.datetime.fromtimestamp(START + 3601, datetime.timezone.utc)
    assert ends(align=moment) == ends(align=START + 3601) == [(3600, 1), (7200, 2), (10800, 1)]
    grown = [window.num_edges for window in db.expanding("1h", time="sent", align="first")]
    assert grown == [2, 3, 4]
    with pytest.raises(esker.InvalidError, match="or calendar, or first"):
        ends(align="soon")
    with pytest.raises(esker.InvalidError, match="every_edges"):
        db.rolling("1h", every_edges=2, time="sent", align="first")


def test_kinds_of_edges_are_views_and_joined_by_themselves():
    rows = [("a", "b", "mail"), ("a", "b", "call"), ("a", "b", "mail"), ("b", "c", "call")]
    source, target, medium = map(list, zip(*rows))
    for kind, edges, counts in (("medium", 3, {"call": 2, "mail": 1}), (None, 2, {})):
        graph = esker.from_edges(source, target, properties={"medium": medium}, kind=kind, duplicates="last")
        assert (graph.num_edges, graph.kinds) == (edges, counts)
    graph = esker.from_edges(source, target, properties={"medium": medium}, kind="medium", duplicates="last")
    calls = graph.of_kinds("call")
    assert (calls.num_edges, calls.num_vertices, calls.wcc().components) == (2, 3, 1)
    mail = graph.of_kinds("mail")
    assert (mail.num_vertices, graph.of_kinds("mail", all_vertices=True).wcc().components) == (2, 2)
    assert graph.of_kinds("mail", "call").num_edges == 3
    with pytest.raises(esker.InvalidError, match="no kind of edges 'letter'|there are call, mail"):
        graph.of_kinds("letter")
    with pytest.raises(esker.InvalidError, match="no kinds"):
        esker.from_edges([0], [1]).of_kinds("mail")


def test_removing_edges_of_an_unknown_kind_is_refused(tmp_path):
    for rule in ("keep", "last"):
        path = tmp_path / f"{rule}.esker"
        table = {"source": ["a", "b"], "target": ["b", "c"], "medium": ["mail", "call"]}
        with esker.create(path, duplicates=rule, kind="medium") as db:
            with db.batch() as batch:
                batch.add_edges(table)
            for gone in ({"source": ["a"], "target": ["b"]}, {"source": ["z"], "target": ["y"]}):
                with pytest.raises(esker.InvalidError, match='no kind of edges "letter" in the database; there are call, mail'):
                    with db.batch() as batch:
                        batch.delete_edges({**gone, "medium": ["letter"]})
            assert len(db.versions()) == 1
            with db.batch() as batch:
                batch.delete_edges({"source": ["a"], "target": ["b"], "medium": ["call"]})
            assert batch.deleted == 0


def test_conditions_are_views_and_graphs():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(
        {"source": [1, 1, 2, 3, 4], "target": [2, 3, 3, 4, 1], "amount": [50, 150, 250, 350, 450], "currency": ["EUR", "CHF", "EUR", "USD", "EUR"]}
    )
    graph = esker.from_edges(rows["source"], rows["target"], properties={name: rows[name] for name in ("amount", "currency")})
    for condition, query in (
        ("amount > 100 and currency in ('EUR', 'CHF')", "amount > 100 and currency in ('EUR', 'CHF')"),
        ("not currency = 'EUR' or target = 1", "currency != 'EUR' or target == 1"),
        ("amount between 150 and 350", "150 <= amount <= 350"),
        ("vertex != 4", "source != 4 and target != 4"),
        ("currency like '_U%'", "currency.str.contains('^.U')"),
    ):
        wanted = rows.query(query, engine="python")
        part, copy = graph.where(condition), graph.filter(condition)
        assert part.num_edges == copy.num_edges == len(wanted), condition
        ends = pandas.unique(wanted[["source", "target"]].to_numpy().ravel())
        assert part.num_vertices == copy.num_vertices == len(ends)
        assert graph.filter(condition, all_vertices=True).num_vertices == graph.num_vertices
        assert copy.edges().to_pandas().sort_values("amount")["currency"].to_list() == wanted["currency"].to_list()
        assert part.wcc().components == copy.wcc().components
    both = graph.where("amount > 100").where("currency = 'EUR'")
    assert both.num_edges == 2 and repr(both).endswith("where amount > 100 and currency = 'EUR'>")
    for wrong, error, message in (
        ("amount", esker.InvalidError, "behind amount belongs a comparison"),
        ("amount > 'x'", esker.InvalidError, "in quotes is a text"),
        ("price > 3", esker.InvalidError, "no property 'price'|no property \"price\""),
    ):
        for door in (graph.where, graph.filter):
            with pytest.raises(error, match=message):
                door(wrong)
    with pytest.raises(esker.InvalidError, match="name a condition"):
        graph.where()


def test_groups_are_those_of_pandas():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(
        {"source": [1, 1, 2, 3, 1], "target": [2, 3, 3, 1, 2], "amount": [50, 150, 250, 350, 450], "currency": ["EUR", "CHF", "EUR", "USD", "EUR"]}
    )
    properties = {name: rows[name] for name in ("amount", "currency")}
    graph = esker.from_edges(rows["source"], rows["target"], properties=properties, duplicates="keep")
    found = pandas.DataFrame(graph.group_by("source", "currency", sum="amount", mean=["amount"], count=True))
    wanted = rows.groupby(["source", "currency"])["amount"].agg(["sum", "mean", "count"]).reset_index()
    wanted.columns = found.columns
    assert found.sort_values(["source", "currency"]).reset_index(drop=True).equals(wanted)
    assert graph.group_by("target", max="amount", where="currency = 'EUR'", top=1) == {"target": [2], "max_amount": [450]}
    assert graph.group_by(count=True, min="amount") == {"min_amount": [50], "count": [5]}
    with pytest.raises(esker.InvalidError, match="nothing is asked"):
        graph.group_by()
    with pytest.raises(esker.InvalidError, match="no property"):
        graph.group_by("source", sum="price")


def test_rows_that_are_the_same_are_one(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,weight,medium\n1,2,5,mail\n1,2,5,mail\n1,2,6,mail\n1,2,5,call\n")
    database = esker.create(tmp_path / "a.esker", duplicates="rows")
    assert database.import_(tmp_path / "a.csv", properties="all").edges == 3
    with database.batch() as batch:
        batch.add_edges([1, 1], [2, 2], weight=[5, 7], properties={"medium": ["mail", "mail"]})
    assert database.graph().num_edges == 4
    of_kind = esker.import_(tmp_path / "a.csv", tmp_path / "b.esker", kind="medium", duplicates="last")
    assert of_kind.graph().kinds == {"call": 1, "mail": 1}


def test_days_of_a_zone_and_dates_of_a_format(tmp_path):
    table = tmp_path / "local.csv"
    table.write_text("from;to;at;size\n1;2;28.03.2026 12:00;1,5\n2;3;29.03.2026 00:00;2\n3;4;29.03.2026 23:59;3\n")
    db = esker.create()
    options = {"time": "at", "properties": "all", "timezone": "Europe/Berlin", "decimal_comma": True}
    with pytest.warns(esker.EskerWarning, match="look like dates"):
        esker.create().import_(table, **{**options, "time": None, "timezone": None})
    db.import_(table, date_format={"at": "%d.%m.%Y %H:%M"}, **options)
    assert db.graph().edge_properties["at"] == "timestamp[us, Europe/Berlin]"
    assert db.graph().edge(1, 2)["size"] == 1.5
    windows = list(db.rolling("1d"))
    assert [window.num_edges for window in windows] == [1, 2]
    # Summer time begins: the day has 23 hours.
    assert windows[1].until - windows[0].until == np.timedelta64(23, "h")
    assert db.window("1d", at="2026-03-29").num_edges == 2
    assert db.window("1d", at="2026-03-29T00:00:00", closed="left").num_edges == 1
    assert db.window("1d", at="2026-03-29", timezone="UTC").num_edges == 1
    with pytest.raises(esker.InvalidError, match="closed must be one of"):
        db.window("1d", closed="both")
    with pytest.raises(esker.Error, match="such as Europe/Berlin"):
        db.rolling("1d", timezone="Berlin")
    with pytest.raises(esker.Error, match="has no day, month and year"):
        esker.create().import_(table, date_format="%H")


@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_without_vertices_is_a_graph_without_them(seed):
    draw = random.Random(seed)
    pairs = draw.sample([(u, v) for u in range(12) for v in range(12)], 40)
    edges = [(u, v, draw.randrange(9)) for u, v in pairs]
    with esker.create() as db:
        with db.batch() as batch:
            batch.add_vertices(range(14))
            batch.add_edges([u for u, _, _ in edges], [v for _, v, _ in edges], properties={"amount": [w for _, _, w in edges]})
        whole, gone = db.graph(), draw.sample(range(14), 3)
        view = whole.without(*gone)
        with db.batch() as batch:
            batch.delete_vertices(gone)
        left = db.graph()
        assert (view.num_vertices, view.num_edges) == (left.num_vertices, left.num_edges)
        source = next(v for v in range(14) if v not in gone)
        for algorithm, options in [("wcc", {}), ("pagerank", {}), ("bfs", {"source": source}), ("degrees", {})]:
            assert getattr(view, algorithm)(**options).to_dict() == pytest.approx(getattr(left, algorithm)(**options).to_dict()), algorithm
        conditions = "amount > 3"
        assert whole.where(conditions).without(*gone).num_edges == left.where(conditions).num_edges == view.where(conditions).num_edges
        assert repr(view).endswith(f"without {', '.join(map(str, gone))}>")
        with pytest.raises(ValueError, match="left out"):
            view.bfs(gone[0])
        with pytest.raises(esker.VertexNotFoundError):
            whole.without(99)
        with pytest.raises(ValueError, match="name a vertex"):
            whole.without()


def test_windows_raise_alerts_one_after_another_by_length(path):
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges([0, 0, 0, 0, 5], [1, 2, 3, 4, 6], properties={"at": [1, 11, 12, 13, 21]})
        windows = db.rolling(10, every=10, time="at")
        found = [(str(one["until"]), one["vertex"], one["degree"]) for one in windows.alerts("degrees", "degree >= 2", direction="out")]
        ranks = [dict(window.run("degrees", direction="out").top(9)) for window in windows]
        expected = []
        before: dict = {}
        for window, now in zip(windows, ranks):
            expected += [(str(window.until), v, d) for v, d in sorted(now.items()) if d >= 2 and before.get(v, 0) < 2]
            before = now
        assert found == expected and len(found) == 1
        new = list(windows.alerts("degrees", alert_new=True, direction="out"))
        assert {one["vertex"] for one in new} >= {5, 6} and all(one["alert"] == "new" for one in new)
        both = list(db.rolling([10, 20], every=10, time="at").alerts("degrees", "degree >= 3", direction="out"))
        assert {one["length"] for one in both} == {"10", "20"}
        with pytest.raises(esker.InvalidError, match="nothing raises an alert"):
            windows.alerts("degrees")
