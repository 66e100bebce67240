//! Compares stacks of layers written from random histories with their histories.

use esker_graph::Run;
use esker_graph::random::Random;
use proptest::prelude::*;

use super::{GraphKind, History, HistoryChange, check_version, random_cuts, some};

/// The vertex table once treated a list that consists only of past arcs as empty.
#[test]
fn the_vertex_table_finds_a_list_of_past_arcs_only() {
    let mut history =
        History::new(GraphKind { directed: true, multigraph: false, in_edges: true, compressed: false });
    history.commit(2, vec![HistoryChange::Add(0, 1, 2)]);
    history.commit(2, vec![HistoryChange::Delete(0, 1)]);
    let layers = history.layers(&mut Random::new(0), &[2], &[1]);
    let run = Run::with_threads(1).unwrap();
    [1, 2].iter().for_each(|&version| check_version(&layers.layers, &history, version, &run));
}

proptest! {
    #![proptest_config(esker_format::testing::cases(300))]
    #[test]
    fn stacks_of_layers_read_as_their_history(seed: u64) {
        let mut random = Random::new(seed);
        let kind = GraphKind::random(&mut random);
        let versions = 1 + random.index(14);
        let history = History::random(kind, &mut random, versions);
        let cuts = random_cuts(&mut random, history.last(), 40);
        let distinguished = some(&mut random, 1..=history.last(), 50);
        let layers = history.layers(&mut random, &cuts, &distinguished);
        let run = Run::with_threads(1).unwrap();
        for &version in &layers.distinguished {
            check_version(&layers.layers, &history, version, &run);
        }
    }
}
