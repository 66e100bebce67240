//! Paths with all choices together, against a search that tries all.

use std::collections::BTreeMap;

use esker::graph::random::Random;
use esker::graph::{Run, VertexId};
use esker::local::{PathOptions, paths};
use esker::session::{Selection, WindowSelection};
use esker::store::Version;
use esker::store::format::Encoding;
use esker::window::EpochUnit;

use crate::common::cases;

use super::world::{NUM_VERTICES, Row, World};

/// What one question asks, as the test knows it.
#[derive(Debug)]
struct Asked {
    selection: Selection,
    weighted: bool,
    positive: bool,
    of_kinds: bool,
    avoid: Vec<u64>,
    max_steps: Option<usize>,
    count: usize,
    ends: [u64; 2],
}

impl Asked {
    fn random(random: &mut Random) -> Self {
        let weighted = random.below(2) == 0;
        let ends = [random.below(NUM_VERTICES), random.below(NUM_VERTICES)];
        let avoid = (0..random.below(3)).map(|_| random.below(NUM_VERTICES));
        let avoid = avoid.filter(|v| !ends.contains(v)).collect();
        let mut selection = Selection::latest();
        if weighted {
            selection = selection.filtered("rate is not null").unwrap();
        }
        let (positive, of_kinds) = (random.below(3) == 0, random.below(3) == 0);
        if positive {
            selection = selection.filtered("amount > -2").unwrap();
        }
        if of_kinds {
            selection = selection.filtered("kind in (fee, wire, 'a b')").unwrap();
        }
        if random.below(3) == 0 {
            let (time, unit) = (Some("amount".to_owned()), Some(EpochUnit::Seconds));
            let window = WindowSelection { time, unit, ..WindowSelection::of("3s".parse().unwrap()) };
            selection.window = Some(window);
        }
        match random.below(4) {
            0 => selection.reversed = true,
            1 => selection.undirected = true,
            _ => {}
        }
        let max_steps = [None, Some(0), Some(1), Some(2), Some(3), Some(4)][random.below(6) as usize];
        let count = [1, 2, 5, 1000][random.below(4) as usize];
        Self { selection, weighted, positive, of_kinds, avoid, max_steps, count, ends }
    }

    /// The least length from one vertex to another over one edge, in quarters.
    fn arcs(&self, rows: &[Row], directed: bool) -> BTreeMap<(u64, u64), u64> {
        let latest = rows.iter().filter_map(|row| row.amount).max().unwrap();
        let mut arcs = BTreeMap::new();
        for Row { ends: [u, v], amount, rate, kind, .. } in rows {
            let kept = (!self.weighted || rate.is_some())
                && (!self.positive || amount.is_some_and(|amount| amount > -2))
                && (!self.of_kinds || kind.is_some_and(|kind| kind != "it's"))
                && (self.selection.window.is_none() || amount.is_some_and(|amount| amount > latest - 3));
            if !kept {
                continue;
            }
            let length = if self.weighted { (rate.unwrap() * 4.0) as u64 } else { 4 };
            let mut add = |ends| {
                let least: &mut u64 = arcs.entry(ends).or_insert(length);
                *least = length.min(*least);
            };
            let both = !directed || self.selection.undirected;
            if both || !self.selection.reversed {
                add((*u, *v));
            }
            if both || self.selection.reversed {
                add((*v, *u));
            }
        }
        arcs
    }

    /// All paths, the shortest first.
    fn all_paths(&self, arcs: &BTreeMap<(u64, u64), u64>) -> Vec<(u64, Vec<u64>)> {
        let (mut found, mut stack) = (Vec::new(), vec![(0, vec![self.ends[0]])]);
        while let Some((length, path)) = stack.pop() {
            let last = *path.last().unwrap();
            if last == self.ends[1] {
                found.push((length, path));
                continue;
            }
            for (&(_, v), step) in arcs.range((last, 0)..(last + 1, 0)) {
                let is_long = self.max_steps.is_some_and(|max| path.len() > max);
                if !is_long && !path.contains(&v) && !self.avoid.contains(&v) {
                    stack.push((length + step, [&path[..], &[v]].concat()));
                }
            }
        }
        found.sort();
        found
    }

    fn check(&self, world: &World, version: &Version, rows: &[Row], run: &Run) {
        let vertex = |id: &u64| version.find_vertex(&id.to_string(), run).unwrap();
        let chosen = self.selection.local(version, run);
        if self.selection.reversed && !world.directed {
            assert!(chosen.unwrap_err().to_string().contains("the graph is undirected"));
            return;
        }
        let chosen = chosen.unwrap();
        let avoid: Vec<VertexId> = self.avoid.iter().map(vertex).collect();
        let options = PathOptions {
            count: self.count,
            weight: self.weighted.then(|| version.edge_property("rate").unwrap()),
            direction: chosen.direction,
            avoid: &avoid,
            max_steps: self.max_steps,
        };
        let [from, to] = self.ends.map(|id| vertex(&id));
        let found = paths(chosen.graph(version), from, to, options, run).unwrap();
        let unit = if self.weighted { 4.0 } else { 1.0 };
        let length = |path: &esker::local::Path| f64::from(path.length()) * unit;
        let expected = self.all_paths(&self.arcs(rows, world.directed));
        let least: Vec<f64> = expected
            .iter()
            .take(self.count)
            .map(|path| if self.weighted { path.0 as f64 } else { (path.1.len() - 1) as f64 })
            .collect();
        assert_eq!(found.iter().map(length).collect::<Vec<_>>(), least, "{self:?}");
        for (place, path) in found.iter().enumerate() {
            let ids = path.vertices.iter().map(|&v| version.ids().external_of(v).unwrap().to_string());
            let ids: Vec<u64> = ids.map(|id| id.parse().unwrap()).collect();
            let is_path = expected.iter().any(|one| one.1 == ids);
            assert!(is_path && !found[..place].contains(path), "{ids:?} of {self:?}");
        }
    }
}

#[test]
fn paths_with_all_choices_are_those_that_a_search_of_all_finds() {
    let (run, mut random) = (Run::with_threads(1).unwrap(), Random::new(53));
    for (directed, encoding) in
        [(true, Encoding::Plain), (false, Encoding::Compressed), (true, Encoding::Compressed)]
    {
        let place = tempfile::tempdir().unwrap();
        let world = World::new(place.path(), directed, encoding, &mut random);
        let store = esker::store::Store::open(&world.path).unwrap();
        for (number, rows) in [(1, 15), (2, 30), (3, 40)] {
            let version = store.at(number).unwrap();
            for _ in 0..cases(2000).cases {
                Asked::random(&mut random).check(&world, &version, &world.rows[..rows], &run);
            }
        }
    }
}
