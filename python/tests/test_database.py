"""Databases: opening, importing, batches, versions."""

import datetime
import gzip
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest

import esker


def test_versions_stay_as_they_were(web):
    assert [version.message for version in web.versions()] == ["first", "second"]
    first, second = web.graph(1), web.graph(version=2)
    assert first.num_edges == 3 and second.num_edges == 3
    assert first.has_edge("bob", "carol") and not second.has_edge("bob", "carol")
    assert "dave" in second and "dave" not in first
    assert second.edge("alice", "dave") == {"weight": 7.0}
    assert second.version == 2 and second.time <= datetime.datetime.now(datetime.timezone.utc)


def test_versions_by_tag_and_time(web):
    web.tag("monday", 1)
    assert web.tags == {"monday": 1}
    assert web.versions()[0].tags == ("monday",)
    assert web.graph(at="monday").version == 1
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    assert web.graph(at=later).version == 2
    assert web.graph(at=later.date()).version == 2
    assert web.graph(at="latest").version == 2
    for wrong in (9, "tuesday", datetime.date(1999, 1, 1)):
        with pytest.raises(KeyError) as error:
            web.graph(at=wrong)
        assert isinstance(error.value, esker.VersionNotFoundError)
    with pytest.raises(TypeError):
        web.graph(at=1.5)
    with pytest.raises(ValueError, match="not both"):
        web.graph(1, at=1)
    web.untag("monday")
    assert web.tags == {}


def test_a_table_over_versions_has_what_a_run_on_each_has(path):
    db = esker.create(path)
    edges = [(3 * i % 13, 5 * i % 11) for i in range(40)]
    for start in range(0, 40, 10):
        with db.batch() as batch:
            batch.add_edges(*zip(*edges[start : start + 10]))
            if start:
                batch.delete_edges(*zip(*edges[start - 5 : start - 3]))
    numbers = [one.number for one in db.versions()]
    for algorithm, options in (("wcc", {}), ("kcore", {}), ("degrees", {}), ("bfs", {"source": 3}), ("scc", {}), ("wcc", {"verify": True})):
        frame = db.run_versions(algorithm, **options).to_pandas()
        assert frame["version"].unique().tolist() == numbers
        for number in numbers:
            alone = pa.table(getattr(db.graph(number), algorithm)(**options)).to_pandas()
            assert frame[frame["version"] == number].drop(columns="version").reset_index(drop=True).equals(alone), (algorithm, number)
    some = db.run_versions("pagerank", 2, 3, top=1)
    assert repr(some) == "<esker.WindowTable of 2 rows over 2 versions>" and some.to_arrow()["version"].to_pylist() == [2, 3]
    assert db.run_versions("triangles", last=2, undirected=True).to_pandas()["version"].tolist() == [1, 2]
    with pytest.raises(esker.InvalidError, match="after the last"):
        db.run_versions("wcc", 3, 2)
    with pytest.raises(ValueError, match="no algorithm"):
        db.run_versions("wccc")


def test_diff(web):
    found = web.diff(1, 2)
    assert (found.edges_added, found.edges_removed, found.vertices_added) == (1, 1, 1)
    kinds = {change["change"] for change in found.changes}
    assert kinds == {"edge added", "edge removed", "vertex added"}
    assert web.diff(1, 2, summary_only=True).changes == []
    assert web.diff(2, 1).edges_added == 1


def test_retain_forget_compact(web):
    for number in range(3, 6):
        with web.batch() as batch:
            batch.add_edges(["alice"], [f"friend {number}"], weight=[1.0])
    web.forget(4)
    assert [version.number for version in web.versions()] == [1, 2, 3, 5]
    web.retain(last=2)
    assert [version.number for version in web.versions()] == [3, 5]
    assert web.compact()["layers"] == 1
    assert web.check() == []
    assert "friend 5" in web.graph() and web.graph(3).num_edges == 4


def test_compact_leaves_out_vertices_that_no_version_has(web):
    before = web.graph()
    with web.batch() as batch:
        batch.delete_vertices(["alice"])
    removed = web.graph()
    web.retain(last=1)
    assert web.compact(renumber="never")["vertices_left_out"] == 0
    assert web.info["vertex_numbers"] == before.num_vertices
    assert web.compact(renumber="always")["vertices_left_out"] == 1
    assert web.info["vertex_numbers"] == web.info["vertices"] == before.num_vertices - 1
    assert web.check() == []
    after = web.graph()
    assert "alice" not in after and after.num_edges == removed.num_edges
    assert after.pagerank().to_dict() == pytest.approx(removed.pagerank().to_dict())
    assert "alice" in before and before.num_vertices == after.num_vertices + 1
    with pytest.raises(ValueError, match="renumber must be"):
        web.compact(renumber="sometimes")


def test_later_files_are_read_as_the_import_was(tmp_path):
    (tmp_path / "a.csv").write_text("payer,payee,weight\n5,6,3\n6,7,4\n")
    (tmp_path / "b.csv").write_text("weight,payee,payer\n8,5,7\n")
    (tmp_path / "flows.csv").write_text("orig,resp,weight\n1,2,3\n")
    (tmp_path / "names.csv").write_text("payer,payee,weight\nann,5,1\n")
    with esker.create(tmp_path / "pay.esker") as db:
        db.import_(tmp_path / "a.csv")
        assert db.reading["source"] == "payer" and db.reading["properties"] == {"weight": "weight"}
        assert db.import_(tmp_path / "b.csv").edges == 1
        assert db.graph().edge(7, 5) == {"weight": 8}
        with pytest.raises(esker.InputError, match="expected source payer, target payee, weight; found orig, resp"):
            db.import_(tmp_path / "flows.csv")
        assert db.import_(tmp_path / "flows.csv", source="orig", target="resp").edges == 1
        with pytest.raises(esker.InputError, match="make_ids_texts()"):
            db.import_(tmp_path / "names.csv")
        old = db.graph(1)
        assert db.make_ids_texts() and not db.make_ids_texts()
        assert old.has_edge(5, 6) and db.graph(1).has_edge("5", "6")
        db.import_(tmp_path / "names.csv")
        assert db.graph().has_edge("ann", "5")
        db.forget_reading()
        assert db.reading is None
        db.import_(tmp_path / "names.csv")
        assert db.reading["target"] == "payee"


def test_versions_with_given_times_are_given_them(tmp_path):
    (tmp_path / "a.csv").write_text("source,target\n5,6\n")
    with esker.create(tmp_path / "pay.esker") as db:
        db.import_(tmp_path / "a.csv", event_time="2024-05-01")
        with pytest.raises(esker.InvalidError, match="event_time='now' for the time of the commit"):
            db.batch()
        with pytest.raises(esker.InvalidError, match="this one needs its own"):
            db.import_(tmp_path / "a.csv")
        for time in ("2024-05-02", "now"):
            with db.batch(event_time=time) as batch:
                batch.add_edges([7], [8])
        assert [version.number for version in db.versions()] == [1, 2, 3]


def test_write_options(web, path):
    assert web.write_options == {"copy": "mixed", "freeze": 64 << 20, "merge": True}
    web.compact()
    web.set_write_options(freeze=1, merge=False)
    web.set_write_options(copy="chain")
    for target in "xyz":
        with web.batch() as batch:
            batch.add_edges(["alice"], [target], weight=[1.0])
    with esker.open(path) as db:
        assert db.write_options == {"copy": "chain", "freeze": 1, "merge": False}
        with pytest.raises(esker.Error):
            db.set_write_options(merge=True)
    assert web.compact()["layers_before"] == 4
    for wrong, message in (({"copy": "some"}, "copy must be one of"), ({"freeze": "much"}, "freeze must be a size")):
        with pytest.raises(ValueError, match=message):
            web.set_write_options(**wrong)
    with pytest.raises(TypeError, match="merge must be True or False"):
        web.set_write_options(merge=1)
    assert web.write_options["copy"] == "chain"


@pytest.mark.parametrize("in_memory", [False, True])
def test_new_databases_have_tiles_and_heads(tmp_path, in_memory):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target,weight\n" + "".join(f"{u},{u * 7 % 50},{u}\n" for u in range(50)))

    def made(name, by_import=True, **options):
        path = None if in_memory else tmp_path / f"{name}.esker"
        with esker.create(path, **({} if by_import else options)) as db:
            if by_import:
                db.import_(edges, **options)
            else:
                with db.batch() as batch:
                    batch.add_edges([1, 2, 3], [2, 3, 1])
            g = db.graph()
            readings = [{}]
            if "encoding" in options:
                readings.append({"encoding": "tiles"})
            if "heads" in options:
                readings.append({"residency": "headed", "memory": "1GiB"})
            ranks = [g.pagerank(**reading).to_numpy() for reading in readings]
            assert all(abs(rank - ranks[0]).max() < 1e-6 for rank in ranks)
            return ranks[0]

    usual = made("plain")
    for number, options in enumerate([{"encoding": "tiles"}, {"encoding": "tiles", "only": True}, {"heads": 2}, {"heads": True}]):
        assert abs(made(f"imported{number}", **options) - usual).max() < 1e-6
        made(f"made{number}", by_import=False, **options)
    with esker.create(None) as db:
        for wrong in ({"only": True}, {"encoding": "plain", "only": True}, {"heads": 0}, {"encoding": "tiles", "only": True, "heads": 2}):
            with pytest.raises(esker.InvalidError, match="only=True|heads must be"):
                db.import_(edges, **wrong)
        db.import_(edges)
        with pytest.raises(esker.InvalidError, match="heads has no effect"):
            db.import_(edges, heads=2)
    for wrong in ({"only": True}, {"only": 1, "encoding": "tiles"}, {"heads": -1}):
        with pytest.raises((esker.InvalidError, TypeError)):
            esker.create(None, **wrong)


def test_read_as_tiles_and_with_heads(web):
    usual = web.graph().pagerank().to_numpy()
    with pytest.raises(esker.Error, match="tiles"):
        web.graph().pagerank(encoding="tiles")
    web.compact(encoding="tiles")
    g = web.graph()
    for reading in ({"encoding": "tiles"}, {"residency": "pooled"}, {"residency": "headed", "head": 1}, {"residency": "mapped"}, {"residency": "memory"}):
        assert abs(g.pagerank(**reading, memory="1GiB").to_numpy() - usual).max() < 1e-6, reading
        assert g.bfs("alice", **reading).reached == g.bfs("alice").reached
    with pytest.raises(ValueError, match="encoding must be one of"):
        g.pagerank(encoding="plain")
    with pytest.raises(ValueError, match="triangles reads single lists at random.*encoding='lists'"):
        g.triangles(encoding="tiles")
    with web.batch() as batch:
        batch.add_edges(["alice"], ["a new friend"], weight=[1.0])
    report = web.compact()
    assert (report["tile_groups_rebuilt"], report["tile_groups_copied"]) == (1, 0)
    assert web.graph().bfs("alice", encoding="tiles").reached == web.graph().bfs("alice").reached
    usual = web.graph().pagerank().to_numpy()
    web.compact(heads=1)
    web.compact(heads=True, memory="64MiB")
    g = web.graph()
    assert abs(g.pagerank(residency="headed", memory="1GiB").to_numpy() - usual).max() < 1e-6
    with pytest.raises(ValueError, match="heads must be a positive number"):
        web.compact(heads=-1)
    with pytest.raises(ValueError, match="head"):
        g.pagerank(residency="pooled", head=3)
    with pytest.raises(MemoryError, match="MiB|bytes"):
        g.pagerank(residency="pooled", memory="1MiB")
    with pytest.warns(esker.EskerWarning, match="tiles only have none"):
        web.compact(encoding="tiles", only=True)
    for encoding in ("tiles", "plain", "compressed"):
        web.compact(encoding=encoding, only=encoding == "tiles")
        assert abs(web.graph().pagerank().to_numpy() - usual).max() < 1e-6
        assert web.graph().bfs("alice").reached == web.graph().bfs("alice", residency="memory").reached
    with pytest.raises(ValueError, match="only=True"):
        web.compact(only=True)
    web.compact(heads=2)
    g = web.graph()
    assert abs(g.pagerank(residency="headed", memory="1GiB").to_numpy() - usual).max() < 1e-6


def test_edge_properties_that_come_later(web):
    with pytest.raises(ValueError, match="unknown type"):
        web.define_edge_property("since", "day")
    with pytest.raises(ValueError, match="already"):
        web.define_edge_property("weight")
    web.define_edge_property("since", "i64")
    web.define_edge_property("kind", "text")
    with web.batch() as batch:
        batch.add_edges(["bob"], ["dave"], weight=[1.0], properties={"since": [1999], "kind": ["new"]})
    assert web.graph().edge("bob", "dave") == {"weight": 1.0, "since": 1999, "kind": "new"}
    assert web.graph(1).edge("alice", "bob") == {"weight": 1.0, "since": 0, "kind": ""}


def test_reopened(path, web):
    with esker.open(path) as reader:
        assert reader.graph().num_vertices == 4
        assert not reader.writable and repr(reader).endswith("(r)>")
        with pytest.raises(PermissionError):
            reader.batch()
        with pytest.raises(esker.ReadOnlyError):
            reader.tag("x")
        with web.batch() as batch:
            batch.add_vertices(["erin"])
        assert "erin" not in reader.graph()
        assert "erin" in reader.refresh().graph()
    with pytest.raises(esker.LockedError, match="written to by another handle of this process: close that one"):
        esker.open(path, "rw")
    web.close()
    with esker.open(path, mode="rw", sync="never") as writer, writer.batch() as batch:
        batch.delete_vertices(["erin"])
    assert "erin" not in esker.open(path).graph()


def test_closed(web):
    graph = web.graph()
    batch = web.batch()
    web.close()
    web.close()
    assert web.closed and not web.writable
    for use in (web.graph, web.versions, web.batch, web.check, lambda: web.tag("x"), lambda: batch.add_vertices(["x"])):
        with pytest.raises(esker.ClosedError):
            use()
    assert graph.pagerank().rounds > 0, "a graph outlives the handle that it came from"


def test_names_that_cannot_be(path, web):
    for name in ("", "7", "latest", "2026-11-21", "a b"):
        with pytest.raises(ValueError, match="cannot be a tag"):
            web.tag(name)
    with pytest.raises(esker.VersionNotFoundError):
        web.untag("monday")
    for wrong in ("", "a\0b"):
        for use in (esker.open, esker.create):
            with pytest.raises(ValueError, match="not a valid path"):
                use(wrong)
    for use in (esker.open, esker.create, esker.import_):
        with pytest.raises(esker.MistypedError, match="path"):
            use(5)
    with pytest.raises(esker.MistypedError, match="message"):
        web.batch(5)
    for wrong, error in ((0, ValueError), (-1, ValueError), (2**64, ValueError), ("x", TypeError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error) as raised:
            web.retain(last=wrong)
        assert isinstance(raised.value, esker.Error)


def test_a_wrong_tag_or_condition_is_named(web):
    with pytest.raises(esker.MistypedError, match="name of a tag must be a string, not int; write db.tag"):
        web.tag(1, "monday")
    with pytest.raises(esker.MistypedError, match="name of a tag"):
        web.untag(1)
    with pytest.raises(esker.MistypedError, match="such as {'kind': 'depends'}.*got 5"):
        web.graph().filter(5)
    with pytest.raises(esker.InvalidError, match="behind weight belongs a comparison"):
        web.graph().filter("weight")


@pytest.mark.parametrize(
    "options",
    [{"order": "x"}, {"encoding": "x"}, {"sync": "x"}, {"directed": "no"}, {"weight": 5}, {"order": 5}, {"threads": 0}, {"num_vertices": -1}],
)
def test_options_are_checked_when_they_are_given(tmp_path, options):
    with pytest.raises(esker.Error):
        esker.create(tmp_path / "new.esker", **options)


def test_what_the_log_alone_knows(web):
    web.graph().num_edges
    for version in web.versions():
        assert version.edges in (None, web.graph(version.number).num_edges)


def test_missing_and_existing(tmp_path, path, web):
    with pytest.raises(FileNotFoundError):
        esker.open(tmp_path / "no.esker")
    with pytest.raises(FileExistsError):
        esker.create(path)
    with pytest.raises(ValueError, match="not a database"):
        esker.open(tmp_path)
    with pytest.raises(ValueError, match="mode"):
        esker.open(path, "w")
    web.close()
    with esker.create(path, replace=True) as fresh, fresh.batch() as batch:
        batch.add_edges([1], [2])
    assert esker.open(path).graph().num_edges == 1


def test_an_empty_database(path):
    with esker.create(path):
        pass
    with esker.open(path, "rw") as db:
        graph = db.graph()
        assert len(graph) == 0 and bool(graph) and list(graph) == []
        assert len(graph.pagerank()) == 0 and graph.pagerank().top(3) == []
        assert graph.wcc().components == 0
        assert len(graph.edges()) == 0
        with db.batch() as batch:
            batch.add_edges([3], [4])
        assert db.graph().num_edges == 1


def test_a_batch_that_fails_leaves_nothing(web):
    with pytest.raises(RuntimeError), web.batch() as batch:
        batch.add_edges(["x"], ["y"], weight=[1.0])
        raise RuntimeError
    with pytest.raises(esker.ClosedError):
        batch.commit()
    with web.batch() as batch:
        with pytest.raises(ValueError, match="no values for weight"):
            batch.add_edges(["x"], ["y"])
        with pytest.raises(ValueError, match="no property"):
            batch.add_edges(["x"], ["y"], weight=[1.0], properties={"colour": ["red"]})
        with pytest.raises(TypeError, match="strings"):
            batch.add_edges([1], ["y"], weight=[1.0])
        batch.add_edges(["x"], ["z"], weight=[1.0])
    assert "z" in web.graph() and "y" not in web.graph()


def test_what_fails_half_way_ends_the_batch(web):
    with pytest.raises(esker.ClosedError), web.batch() as batch:
        with pytest.raises(ValueError, match="inf"):
            batch.add_edges(["x", "y"], ["y", "z"], weight=[1.0, float("inf")])
        batch.add_vertices(["w"])
    assert "w" not in web.graph() and "x" not in web.graph()


def test_a_first_batch_that_fails_leaves_no_database(path):
    db = esker.create(path)
    with pytest.raises(RuntimeError), db.batch() as batch:
        batch.add_edges(["x"], ["y"])
        batch.set_vertices(["x"], age=3)
        raise RuntimeError
    assert not os.path.exists(path) and repr(db).endswith("(new)>")
    with db.batch("again") as batch:
        batch.add_edges([1], [2])
    assert [version.message for version in db.versions()] == ["again"]
    db.close()
    assert esker.open(path).graph().num_edges == 1


def test_one_value_for_all_vertices(web):
    with web.batch() as batch:
        batch.set_vertices(["alice", "bob"], age=np.int64(3), score=np.float32(0.5), city="Oslo")
    assert web.graph().properties("bob") == {"age": 3, "score": 0.5, "city": "Oslo"}
    with web.batch() as batch:
        batch.set_vertices(["alice"], age=None, city=None)
        batch.set_vertices(["bob", "carol"], age=np.ma.MaskedArray([1, 2], mask=[True, False]))
    graph = web.graph()
    assert graph.properties("alice") == {"score": 0.5} and graph.properties("bob") == {"score": 0.5, "city": "Oslo"}
    assert graph.properties("carol") == {"age": 2}
    with web.batch() as batch:
        batch.set_vertices(graph.ids(), again=graph.property("score"))
    assert web.graph().property("again").mask.tolist() == graph.property("score").mask.tolist()


def test_vertex_properties(web):
    with web.batch() as batch:
        batch.set_vertices(["alice", "bob"], age=[30, 40], city=["Oslo", None])
        batch.set_vertices(["carol"], city="Rome")
    graph = web.graph()
    assert graph.vertex_properties == {"age": "i64", "city": "text"}
    assert graph.properties("alice") == {"age": 30, "city": "Oslo"}
    assert graph.properties("bob") == {"age": 40}
    ages = dict(zip(graph.ids(), graph.property("age").tolist()))
    assert ages == {"alice": 30, "bob": 40, "carol": None, "dave": None}
    assert dict(zip(graph.ids(), graph.property("city")))["carol"] == "Rome"
    with web.batch() as batch:
        batch.set_vertices(["alice"], age=[None], city=["Bonn"])
    assert web.graph().properties("alice") == {"city": "Bonn"}
    assert web.graph(3).properties("alice") == {"age": 30, "city": "Oslo"}
    with pytest.raises(KeyError):
        graph.property("height")


def test_store(web):
    graph = web.graph()
    assert web.store(graph.pagerank(), "pagerank") == 3
    stored = web.graph().property("pagerank")
    assert stored.tolist() == graph.pagerank().to_numpy().tolist()
    web.store(graph.bfs("bob"))
    depth = web.graph().property("depth")
    assert depth.mask.any() and depth[~depth.mask].tolist() == [0]
    with pytest.raises(esker.UnsuitableError):
        web.store(graph.forest())
    with pytest.raises(TypeError):
        web.store([1, 2, 3])


def test_import_of_files(tmp_path, path):
    file = tmp_path / "edges.csv.gz"
    with gzip.open(file, "wt") as out:
        out.write("from,to,w,colour\na,b,1,red\nb,c,2,blue\na,b,3,red\n")
    with esker.create(path, directed=False) as db:
        options = {"source": "from", "target": "to", "weight": "w", "properties": ["colour"]}
        report = db.import_(file, **options, duplicates="first")
        assert (report.rows, report["edges"], report.duplicates) == (3, 2, 1)
        assert "rows=3" in repr(report)
        graph = db.graph()
        assert not graph.directed and graph.weight == "w"
        assert graph.edge("b", "a") == {"w": 1, "colour": "red"}
        more = tmp_path / "more.csv"
        more.write_text("from,to,w,colour\nc,d,5,green\n")
        assert db.import_(more, source="from", target="to", message="more").versions == [2]
        assert db.graph().edge("c", "d") == {"w": 5, "colour": "green"}
        with pytest.warns(esker.EskerWarning, match="says that the graph is undirected"):
            assert db.export(tmp_path / "out.csv") == 3
        with pytest.raises(FileExistsError):
            db.export(tmp_path / "out.csv")
    with pytest.warns(esker.EskerWarning, match="the column colour is not read"):
        assert esker.import_(tmp_path / "out.csv", ids="text").graph().num_edges == 3


def test_bad_lines_are_told(tmp_path):
    file = tmp_path / "edges.el"
    file.write_text("1 2\n3\n4 5\n")
    with pytest.raises(esker.InputError) as error:
        esker.import_(file)
    assert error.value.line == 2 and error.value.path.endswith("edges.el")
    assert isinstance(error.value, ValueError)
    with pytest.warns(esker.EskerWarning, match="skipped 1 malformed line,"):
        assert esker.import_(file, bad_lines="skip").graph().num_edges == 2
    with pytest.raises(FileNotFoundError):
        esker.import_(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="bad_lines"):
        esker.import_(file, bad_lines="maybe")


def test_rejected_rows_go_to_a_file(tmp_path):
    file, rejects = tmp_path / "edges.csv", tmp_path / "bad.csv"
    file.write_text("source,target\n1,2\nx,3\n4,5\n")
    skipped = "skipped 1 malformed line"
    with pytest.warns(esker.EskerWarning, match=skipped), pytest.warns(esker.EskerWarning, match="1 row could not be taken and went to"):
        db = esker.import_(file, tmp_path / "g.esker", ids="int", rejects=rejects)
    assert db.graph().num_edges == 2
    header, row = rejects.read_text().splitlines()
    assert header == "file,line,reason,row" and row.startswith(f"{file},3,") and row.endswith(',"x,3"')
    with pytest.raises(FileExistsError, match="exists already"):
        db.import_(file, rejects=rejects)
    rejects.unlink()
    file.write_text("source,target\n6,7\ny,3\n")
    with pytest.warns(esker.EskerWarning, match=skipped), pytest.warns(esker.EskerWarning, match="went to"):
        report = db.import_(file, rejects=rejects)
    assert report.rejected == 1 and rejects.read_text().splitlines()[1].endswith(',"y,3"')


def test_no_integer_is_rounded(web):
    with web.batch() as batch:
        batch.add_edges(["alice"], ["bob"], weight=[0.1])
    large = (1 << 53) + 1
    with pytest.raises(esker.InvalidError, match=f"the integer {large} is not exactly"):
        with web.batch() as batch:
            batch.add_edges(["bob"], ["alice"], weight=[large])
    for weights in [[0.5, large], [large, 0.5], [None, 0.5, large], [large, 10**30, 0.5]]:
        with pytest.raises(esker.InvalidError, match="is 9007199254740993, an integer beyond 2\\^53, but other elements are floats"):
            esker.from_edges([0] * len(weights), list(range(len(weights))), weight=weights)
    with web.batch() as batch:
        batch.add_edges(["bob"], ["alice"], weight=[float(large)])
    assert esker.from_edges([0, 0], [1, 2], weight=[0.5, 1 << 60]).num_edges == 2


def test_a_damaged_file_is_told(tmp_path, path, web):
    web.close()
    layer = max((tmp_path / "test.esker" / "layers").rglob("*"), key=lambda file: file.is_file() and file.stat().st_size)
    content = bytearray(layer.read_bytes())
    content[: len(content)] = bytes(byte ^ 0xFF for byte in content)
    layer.write_bytes(content)
    with pytest.raises(esker.CorruptError) as error:
        esker.open(path).graph().pagerank()
    assert "damaged" in str(error.value) and error.value.path


def test_pickling(web):
    graph = pickle.loads(pickle.dumps(web.graph(1)))
    assert graph.version == 1 and graph.num_edges == 3
    with pytest.raises(ValueError, match="pickled"):
        pickle.dumps(web)


def test_another_process_reads_while_this_one_writes(path, web):
    code = "import esker, sys; g = esker.open(sys.argv[1]).graph(); print(g.version, g.bfs('alice').reached)"
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["2", "3"]
    code = "import esker, sys; esker.open(sys.argv[1], 'rw')"
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert "is being written to by another process" in run.stderr


def test_sub_imports_are_late():
    code = "import sys, esker; print([m for m in ('numpy', 'pandas', 'networkx', 'scipy', 'polars') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_only_ids_that_are_given_are_vertices(tmp_path):
    for source, target, expected in [
        ([1], [2], [1, 2]),
        ([1000, 1001], [1001, 1000], [1000, 1001]),
        ([0, 1, 5], [1, 2, 0], [0, 1, 2, 5]),
        ([2**64 - 1], [7], [7, 2**64 - 1]),
    ]:
        graph = esker.from_edges(source, target)
        assert sorted(graph.ids().tolist()) == expected
        assert len(graph.wcc()) == len(expected)
    db = esker.create(tmp_path / "later")
    with db.batch() as batch:
        batch.add_edges([0, 1], [1, 2])
    with db.batch() as batch:
        batch.add_edges([2], [1000])
        batch.add_vertices([50])
    assert sorted(db.graph().ids().tolist()) == [0, 1, 2, 50, 1000]
    with pytest.raises(esker.VertexNotFoundError):
        db.graph().vertex(3)


def test_counts_of_vertices_are_statements(tmp_path):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.coo_array(([1], ([0], [2])), shape=(5, 5))
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([7], [8])
    with db.batch() as batch:
        batch.add_edges(matrix, weight=False)
    assert sorted(db.graph().ids().tolist()) == [0, 1, 2, 3, 4, 7, 8]
    db = esker.create(num_vertices=9)
    with db.batch() as batch:
        batch.add_edges(matrix, weight=False)
    assert len(db.graph()) == 9
    db = esker.create(num_vertices=4)
    with pytest.raises(esker.InvalidError, match="the matrix has 5 rows"):
        with db.batch() as batch:
            batch.add_edges(matrix, weight=False)
    edges = tmp_path / "edges.el"
    edges.write_text("2 3\n")
    for vertices, expected in [(None, [2, 3]), (5, [0, 1, 2, 3, 4])]:
        db = esker.create()
        db.import_(edges, vertices=vertices)
        assert sorted(db.graph().ids().tolist()) == expected
    db = esker.create(num_vertices=5)
    db.import_(edges)
    assert len(db.graph()) == 5
    with pytest.raises(esker.InvalidError):
        esker.create().import_(edges, vertices=-1)


def test_an_import_takes_the_options_that_the_database_was_created_with(tmp_path):
    edges = tmp_path / "edges.el"
    edges.write_text("".join(f"{i} {i + 1}\n" for i in range(20_000)))
    seen = []
    esker.create(progress=seen.append).import_(edges)
    assert seen
    with pytest.raises(esker.Error, match="memory"):
        esker.create(memory="1KiB").import_(edges)
    names = tmp_path / "names"
    names.write_text("7\n")
    with pytest.raises(esker.InvalidError, match="created with num_vertices=5"):
        esker.create(num_vertices=5).import_(edges, vertices=str(names))


def test_an_export_and_import_gives_the_same_vertices(tmp_path):
    db = esker.create(directed=False)
    with db.batch() as batch:
        batch.add_edges([10, 12], [12, 15])
    with db.batch() as batch:
        batch.add_vertices([11])
    with pytest.warns(esker.EskerWarning) as said:
        db.export(tmp_path / "g.csv")
    assert [str(warning.message).split(": ", 1)[1] for warning in said] == [
        "nothing in CSV says that the graph is undirected: import it with directed=False",
        "1 vertex without edges not written, as CSV lists edges only: write their ids with vertices=FILE",
    ]
    with pytest.warns(esker.EskerWarning, match="undirected"):
        assert db.export(tmp_path / "g.csv", vertices=tmp_path / "g.v", overwrite=True) == 2
    with pytest.raises(esker.ExistsError):
        db.export(tmp_path / "other.csv", vertices=tmp_path / "g.v")
    again = esker.create(directed=False)
    again.import_(tmp_path / "g.csv", vertices=tmp_path / "g.v")
    assert sorted(again.graph().ids().tolist()) == [10, 11, 12, 15]


def test_no_message_passes_for_the_position_of_a_stream(tmp_path):
    forged = "stream /data/a.csv: 9 edges, 0 late, mark 1f"
    db = esker.create()
    before = len(db.versions())
    with pytest.raises(esker.InvalidError, match="how far a stream was read"), db.batch(forged) as batch:
        batch.add_edges([1], [2])
    (tmp_path / "a.csv").write_text("source,target\n1,2\n")
    with pytest.raises(esker.InvalidError, match="how far a stream was read"):
        db.import_(tmp_path / "a.csv", message=forged)
    assert len(db.versions()) == before and db.graph().num_edges == 0
