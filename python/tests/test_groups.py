"""Names of groups that stay from version to version, and what becomes of groups."""

from __future__ import annotations

import random

import pytest

import esker


class Planted:
    """A graph of groups that grow, split and merge, with the true group of each vertex."""

    def __init__(self, seed: int, groups: int, size: int) -> None:
        self.random = random.Random(seed)
        self.group_of: dict[int, int] = {}
        self.edges: set[tuple[int, int]] = set()
        self.next_group = groups
        for group in range(groups):
            for _ in range(size):
                self.join(group)

    def members(self, group: int) -> list[int]:
        return [v for v, own in self.group_of.items() if own == group]

    def join(self, group: int) -> None:
        """A new member, with edges to seven others of its group and, now and then, to one of another."""
        v, inside = len(self.group_of), self.members(group)
        self.group_of[v] = group
        self.edges |= {(u, v) for u in self.random.sample(inside, min(7, len(inside)))}
        if v and self.random.random() < 0.2:
            self.edges.add((self.random.randrange(v), v))

    def split(self) -> None:
        """The largest group becomes two."""
        group = max(set(self.group_of.values()), key=lambda group: len(self.members(group)))
        members = self.members(group)
        leave = set(members[: len(members) // 3])
        self.edges = {(u, v) for u, v in self.edges if not ({u, v} <= set(members) and (u in leave) != (v in leave))}
        for v in leave:
            self.group_of[v] = self.next_group
        self.connect(sorted(leave))
        self.next_group += 1

    def merge(self) -> None:
        """The two smallest groups become one."""
        small, other = sorted(set(self.group_of.values()), key=lambda group: (len(self.members(group)), group))[:2]
        for v in self.members(small):
            self.group_of[v] = other
        self.connect(self.members(other))

    def connect(self, members: list[int]) -> None:
        for v in members:
            self.edges |= {(min(u, v), max(u, v)) for u in self.random.sample(members, min(7, len(members))) if u != v}

    def step(self, number: int) -> None:
        groups = sorted(set(self.group_of.values()))
        for _ in range(len(self.group_of) // 50):
            self.join(self.random.choice(groups))
        if number % 5 == 2:
            self.split()
        if number % 5 == 4:
            self.merge()


def jaccard(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b)


def groups_of(labels: dict[int, int]) -> dict[int, set[int]]:
    groups: dict[int, set[int]] = {}
    for v, label in labels.items():
        groups.setdefault(label, set()).add(v)
    return groups


def test_names_stay_over_a_history_of_planted_groups(tmp_path):
    planted, database = Planted(1, groups=12, size=30), esker.create(tmp_path / "planted.esker", directed=False)
    before: set[tuple[int, int]] = set()
    truths = []
    for number in range(25):
        planted.step(number)
        with database.batch() as batch:
            for change, edges in ((batch.delete_edges, before - planted.edges), (batch.add_edges, planted.edges - before)):
                if edges:
                    change(*map(list, zip(*sorted(edges))))
        before = set(planted.edges)
        truths.append(groups_of(planted.group_of))
    table = database.run_versions("leiden", keep_names=True)
    frame = table.to_pandas()
    versions = [dict(zip(rows["vertex"], rows["community"])) for _, rows in frame.groupby("version")]
    assert len(versions) == len(truths) == 25
    kept = whole = 0
    for number, labels in enumerate(versions):
        found = groups_of(labels)
        # No name stands for two true groups: each holds most of at most one.
        for members in found.values():
            assert sum(len(members & truth) > len(members) / 2 for truth in truths[number].values()) <= 1
        if number == 0:
            continue
        old = groups_of(versions[number - 1])
        for name, members in old.items():
            for new_name, now in found.items():
                if jaccard(members, now) >= 0.5:
                    whole += len(members & now)
                    kept += len(members & now) if name == new_name else 0
    assert whole > 5000
    assert kept / whole >= 0.99
    events = table.events.to_pandas()
    assert {"appears", "persists", "splits", "merges"} <= set(events["event"])
    assert set(events.columns) == {"version", "event", "group", "vertices", "before", "other", "shared"}
    # Events add up to the groups of each version.
    alive: dict[int, int] = {}
    for version, rows in events.groupby("version"):
        for row in rows.itertuples():
            if row.event in ("merges", "vanishes"):
                assert alive.pop(row.group) == row.before
            else:
                assert alive.get(row.group, 0) == row.before
                alive[row.group] = row.vertices
        large = {name: len(members) for name, members in groups_of(versions[version - 1]).items() if len(members) > 1}
        assert {name: size for name, size in alive.items() if size > 1} == large


def test_windows_pass_names_on_and_texts_are_names(tmp_path):
    rows = [("a", "b", 1), ("b", "c", 1), ("b", "c", 2), ("b", "c", 3), ("a", "x", 3)]
    path = tmp_path / "a.csv"
    path.write_text("from,to,sent\n" + "".join(f"{u},{v},{t}\n" for u, v, t in rows))
    database = esker.import_(path, tmp_path / "g.esker", time="sent", duplicates="keep")
    windows = database.rolling("1s", every="1s")
    assert windows.run("wcc").to_pandas()["component"].tolist() == ["a"] * 3 + ["b"] * 2 + ["a", "b", "b", "a"]
    table = windows.run("wcc", keep_names=True)
    assert table.to_pandas()["component"].tolist() == ["a"] * 5 + ["x", "a", "a", "x"]
    assert table.events.to_pandas()[["event", "group", "vertices"]].values.tolist() == [
        ["appears", "a", 3],
        ["persists", "a", 2],
        ["appears", "x", 2],
    ]
    with pytest.raises(esker.InvalidError, match="keep_names=True"):
        windows.run("wcc").events
    with pytest.raises(esker.Error, match="named by their members"):
        windows.run("pagerank", keep_names=True)


def test_names_of_vertices_that_were_removed_stay(tmp_path):
    for ids in (["ann", "bob", "cid", "dan"], [7, 3, 900, 20], [2**64 - 1, 5, 2**63, 8]):
        database = esker.create(tmp_path / f"{ids[0]}.esker", directed=False)
        with database.batch() as batch:
            batch.add_edges(ids[:-1], ids[1:])
        first = database.graph().wcc()[ids[1]]
        with database.batch() as batch:
            batch.delete_vertices([first])
        table = database.run_versions("wcc", keep_names=True, top=3)
        largest = [row["component"] for row in table.to_arrow().to_pylist() if row["version"] == 2 and row["vertices"] > 1]
        whole = [row for row in database.run_versions("wcc", keep_names=True).to_arrow().to_pylist() if row["version"] == 2]
        assert {row["component"] for row in whole} >= set(largest)
        assert None not in {row["component"] for row in whole}
        events = table.events.to_arrow().to_pylist()
        assert events[0]["event"] == "appears"
        assert events[0]["group"] == first
        assert any(row["group"] == first and row["version"] == 2 for row in events)


def test_labels_that_are_ids_are_names_too(tmp_path):
    database = esker.create(tmp_path / "labels.esker", directed=False)
    with database.batch() as batch:
        batch.add_edges([10, 20, 30, 50], [20, 30, 10, 60])
    with database.batch() as batch:
        batch.add_edges([60], [70])
    events = database.run_versions("cdlp", keep_names=True).events.to_arrow().to_pylist()
    appeared = [row["group"] for row in events if (row["version"], row["event"]) == (1, "appears")]
    assert appeared
    assert set(appeared) <= {10, 20, 30, 50, 60}
