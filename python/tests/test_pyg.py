"""Stores for PyTorch Geometric. Requires torch, which requirements.txt does not include."""

import copy
import pickle

import numpy as np
import pytest

import esker

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")


def test_stores():
    from torch_geometric.data import EdgeAttr, TensorAttr

    db = esker.create(None)
    with db.batch() as batch:
        batch.add_edges([0, 0, 1], [1, 2, 2])
        batch.set_vertices([0, 1, 2], age=[1.0, 2.0, 3.0], name=["a", "b", "c"])
        batch.set_vertices([0, 1], kind=[4, 5])
    features, edges = db.graph().to_pyg()
    assert features.get_tensor(TensorAttr("vertex", "x", None))[:, 0].tolist() == [1.0, 2.0, 3.0]
    features, edges = db.graph().to_pyg(y="kind")
    assert [attr.attr_name for attr in features.get_all_tensor_attrs()] == ["x", "y"]
    assert features.get_tensor(TensorAttr("vertex", "x", None)).tolist() == [[1.0], [2.0], [3.0]]
    assert features.get_tensor(TensorAttr("vertex", "y", torch.tensor([2, 1]))).tolist() == [-1, 5]
    assert features.get_tensor(TensorAttr("vertex", "kind", None))[:2].tolist() == [4.0, 5.0]
    source, target = edges.get_edge_index(EdgeAttr(("vertex", "to", "vertex"), "coo"))
    assert list(zip(source.tolist(), target.tolist())) == [(0, 1), (0, 2), (1, 2)]
    others, offsets = edges.get_edge_index(EdgeAttr(("vertex", "to", "vertex"), "csc"))
    assert offsets.tolist() == [0, 0, 1, 3] and others.tolist() == [0, 0, 1]
    offsets, others = edges.get_edge_index(EdgeAttr(("vertex", "to", "vertex"), "csr"))
    assert offsets.tolist() == [0, 2, 3, 3] and others.tolist() == [1, 2, 2]
    for attr in edges.get_all_edge_attrs():
        assert attr.size == (3, 3) and len(edges.get_edge_index(attr)) == 2
    with pytest.raises(esker.InvalidError):
        features.put_tensor(torch.zeros(3), TensorAttr("vertex", "z", None))


def test_names_are_checked(web):
    for wrong in ({"x": ["nothing"]}, {"y": "nothing"}):
        with pytest.raises(esker.PropertyNotFoundError):
            web.graph().to_pyg(**wrong)
    with pytest.raises(esker.MistypedError):
        web.graph().to_pyg(x="age")


@pytest.mark.parametrize("order", ["keep", "degree"])
def test_nodes_are_in_the_order_of_ids_also_after_a_deletion(order):
    """Vertices that were removed left gaps in the numbers, and such graphs were refused; features and edges came in two orders."""
    from torch_geometric.data import EdgeAttr, TensorAttr

    db = esker.create(order=order)
    with db.batch() as batch:
        batch.add_edges([0, 1, 2, 3, 4, 0], [5, 5, 5, 5, 5, 1])
    with db.batch() as batch:
        batch.set_vertices(range(6), age=[float(id) for id in range(6)])
        batch.delete_vertices([2])
    graph = db.graph()
    features, edges = graph.to_pyg()
    assert features.get_tensor(TensorAttr("vertex", "x", None))[:, 0].tolist() == graph.ids().tolist() == [0, 1, 3, 4, 5]
    expected = [(0, 1), (0, 4), (1, 4), (2, 4), (3, 4)]
    source, target = edges.get_edge_index(EdgeAttr(("vertex", "to", "vertex"), "coo"))
    assert sorted(zip(source.tolist(), target.tolist())) == expected
    others, offsets = edges.get_edge_index(EdgeAttr(("vertex", "to", "vertex"), "csc"))
    assert offsets.tolist() == [0, 0, 1, 1, 1, 5] and sorted(others.tolist()) == [0, 0, 1, 2, 3]


def test_stores_go_to_other_processes(path, web):
    from torch_geometric.data import EdgeAttr

    layout = EdgeAttr(("vertex", "to", "vertex"), "coo")
    features, edges = web.graph().to_pyg()
    for way in (copy.copy, lambda store: pickle.loads(pickle.dumps(store))):
        assert [end.tolist() for end in way(edges).get_edge_index(layout)] == [end.tolist() for end in edges.get_edge_index(layout)]
        assert way(features).get_all_tensor_attrs() == features.get_all_tensor_attrs() == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_trains(path, workers):
    """Learns the two groups of the karate club from a few labels."""
    pytest.importorskip("torch_sparse")
    from torch_geometric.loader import NeighborLoader
    from torch_geometric.nn import SAGEConv

    rng = np.random.default_rng(1)
    n, m = 600, 6_000
    group = rng.integers(0, 2, n)
    source, target = rng.integers(0, n, (2, m))
    near = (group[source] == group[target]) | (rng.random(m) < 0.1)
    db = esker.create(path, directed=False, num_vertices=n)
    with db.batch() as batch:
        batch.add_edges(source[near], target[near])
        batch.set_vertices(np.arange(n), a=rng.normal(size=n) + group, b=rng.normal(size=n), group=group)
    db.close()
    stores = esker.open(path).graph().to_pyg(x=["a", "b"], y="group")
    torch.manual_seed(1)
    train = torch.arange(0, n, 3)
    loader = NeighborLoader(stores, num_neighbors=[8, 8], input_nodes=("vertex", train), batch_size=50, num_workers=workers)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = SAGEConv(2, 16), SAGEConv(16, 2)

        def forward(self, part):
            edges = part["vertex", "to", "vertex"].edge_index
            return self.last(self.first(part["vertex"].x, edges).relu(), edges)[: part["vertex"].batch_size]

    net = Net()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for _ in range(10):
        for part in loader:
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(part), part["vertex"].y[: part["vertex"].batch_size])
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    others = NeighborLoader(stores, num_neighbors=[8, 8], input_nodes=("vertex", torch.arange(1, n, 3)), batch_size=200)
    with torch.no_grad():
        right = sum((net(part).argmax(dim=1) == part["vertex"].y[: part["vertex"].batch_size]).sum().item() for part in others)
    assert right > 0.9 * 200
