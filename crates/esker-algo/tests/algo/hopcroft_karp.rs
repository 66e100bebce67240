//! Maximum matchings of bipartite graphs, random and awkward.

use esker_algo::algorithm::sets::hopcroft_karp::{Bipartite, BipartiteMatching, estimate, hopcroft_karp};
use esker_algo::check::{self, BipartiteClaim};
use esker_algo::estimate::Shape;
use esker_graph::random::Random;
use esker_graph::{Csr, Direction, Graph, Lists, NONE, Stop, VertexId, vertex};
use proptest::prelude::*;

use crate::common;
use crate::common::shapes::each_form;
use crate::common::undirected;

fn claim(found: &BipartiteMatching) -> BipartiteClaim<'_> {
    BipartiteClaim { mates: &found.mates, edges: found.edges, right: &found.right, cover: &found.cover }
}

fn checked<G: Lists<Error = Stop>>(graph: &G, csr: &Csr<()>, threads: usize) -> Bipartite {
    let found = hopcroft_karp(graph, &common::run(threads, false)).expect("an answer");
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    match &found {
        Bipartite::Matched(found) => check::hopcroft_karp(out, &claim(found)).expect("a right answer"),
        Bipartite::OddEdge(u, v) => {
            assert!(out.list(*u).0.contains(v), "{u} and {v} are neighbours");
            assert_eq!(two_colours(csr), None, "it has an odd cycle");
        }
    }
    found
}

/// Two colours, by a search of another form; `None` if two are too few.
fn two_colours(csr: &Csr<()>) -> Option<Vec<bool>> {
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let n = view.num_vertices();
    let mut colours: Vec<Option<bool>> = vec![None; n];
    let mut stack = Vec::new();
    for v in 0..n {
        if colours[v].is_none() {
            colours[v] = Some(false);
            stack.push(v);
        }
        while let Some(u) = stack.pop() {
            for &w in out.list(vertex(u)).0 {
                match colours[w as usize] {
                    None => {
                        colours[w as usize] = colours[u].map(|own| !own);
                        stack.push(w as usize);
                    }
                    known if known == colours[u] => return None,
                    Some(_) => {}
                }
            }
        }
    }
    colours.into_iter().collect()
}

/// A bipartite graph whose vertices are numbered at random.
fn bipartite(seed: u64) -> Csr<()> {
    let mut random = Random::new(seed);
    let (left, right) = (1 + random.below(40), 1 + random.below(40));
    let n = left + right + random.below(4);
    let mut names: Vec<VertexId> = (0..n as usize).map(vertex).collect();
    for at in (1..names.len()).rev() {
        names.swap(at, random.below(at as u64 + 1) as usize);
    }
    // Few edges, many, and hubs.
    let count = random.below(3 * n);
    let hub = 1 + random.below(left);
    let edges: Vec<_> = (0..count)
        .map(|_| (names[random.below(hub) as usize], names[(left + random.below(right)) as usize], ()))
        .collect();
    Csr::undirected(n as usize, &edges).unwrap()
}

proptest! {
    #![proptest_config(common::cases(250))]
    #[test]
    fn bipartite_graphs_have_a_maximum_matching(seed in any::<u64>()) {
        let csr = bipartite(seed);
        let first = checked(&csr.graph(), &csr, 1);
        prop_assert!(matches!(&first, Bipartite::Matched(_)));
        for threads in [1, 2, 7] {
            each_form!(csr, seed, |graph| {
                let found = checked(graph, &csr, threads);
                assert_eq!(found, first);
            });
        }
    }

    #[test]
    fn any_graph_is_matched_or_has_an_odd_edge(sample in undirected()) {
        let csr = sample.csr(|_| ());
        let first = checked(&csr.graph(), &csr, 1);
        let is_odd = matches!(&first, Bipartite::OddEdge(..));
        prop_assert_eq!(is_odd, two_colours(&csr).is_none());
        for threads in [2, 7] {
            each_form!(csr, sample.seed, |graph| {
                let found = checked(graph, &csr, threads);
                assert_eq!(found, first);
            });
        }
    }
}

#[test]
fn long_paths_and_many_phases() {
    // Chains whose greedy matching has to be exchanged from one end to the other.
    for length in [1, 2, 3, 10, 1001, 30_000] {
        let edges: Vec<_> = (0..length).map(|v| (vertex(v), vertex(v + 1), ())).collect();
        let csr = Csr::undirected(length + 1, &edges).unwrap();
        let Bipartite::Matched(found) = checked(&csr.graph(), &csr, 2) else { panic!("a path is bipartite") };
        assert_eq!(found.edges, length.div_ceil(2));
    }
    // Vertex `i` on the left with all on the right up to `i`: only one matching has all of them.
    let n = 300;
    let edges: Vec<_> = (0..n).flat_map(|u| (0..=u).map(move |v| (vertex(u), vertex(n + v), ()))).collect();
    let csr = Csr::undirected(2 * n, &edges).unwrap();
    let Bipartite::Matched(found) = checked(&csr.graph(), &csr, 2) else { panic!("it is bipartite") };
    assert_eq!(found.edges, n);
}

#[test]
fn nothing_and_what_cannot_be_done() {
    let run = common::run(2, false);
    let none = Csr::<()>::undirected(2, &[]).unwrap();
    let Bipartite::Matched(found) = checked(&none.graph(), &none, 2) else { panic!("it is bipartite") };
    assert_eq!((found.mates, found.edges, found.cover), (vec![NONE; 2], 0, vec![false; 2]));
    let looped = Csr::<()>::undirected(3, &[(0, 1, ()), (2, 2, ())]).unwrap();
    assert_eq!(checked(&looped.graph(), &looped, 2), Bipartite::OddEdge(2, 2));
    let directed = Csr::<()>::directed(2, &[(0, 1, ())]).unwrap();
    let error = hopcroft_karp(&directed.graph(), &run).unwrap_err().to_string();
    assert!(error.contains("a bipartite matching needs an undirected graph"), "{error}");
    assert!(estimate(Shape::of(&none.graph())).memory_bytes > 0);
}

#[test]
fn the_verifier_finds_faults() {
    let csr = Csr::<()>::undirected(5, &[(0, 1, ()), (1, 2, ()), (2, 3, ())]).unwrap();
    let view = csr.graph();
    let out = view.rows(Direction::Out).unwrap();
    let Bipartite::Matched(right) = checked(&view, &csr, 1) else { panic!("a path is bipartite") };
    let refused = |change: &dyn Fn(&mut BipartiteMatching)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        check::hopcroft_karp(out, &claim(&wrong)).unwrap_err().to_string()
    };
    let smaller = refused(&|wrong| {
        (wrong.mates, wrong.edges) = (vec![NONE, 2, 1, NONE, NONE], 1);
    });
    assert!(smaller.contains("2 vertices cover all edges, but 1 are matched"), "{smaller}");
    assert!(refused(&|wrong| wrong.cover[2] = false).contains("has no end of the edge"));
    assert!(refused(&|wrong| wrong.right[0] = true).contains("on the same side"));
    assert!(refused(&|wrong| wrong.mates[0] = 3).contains("which is not a neighbour"));
    assert!(refused(&|wrong| wrong.mates[1] = 2).contains("which is matched with"));
    assert!(refused(&|wrong| wrong.edges = 1).contains("4 vertices are matched by 1 edges"));
    assert!(refused(&|wrong| wrong.cover.truncate(2)).contains("columns of"));
}
