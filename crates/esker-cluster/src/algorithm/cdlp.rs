//! Communities by label propagation, as `esker-algo/src/algorithm/components/cdlp.rs` and LDBC Graphalytics
//! define it.
//!
//! Every vertex begins with its id as its label. In an iteration every vertex takes the label that is most
//! frequent among its neighbours, the least one on ties; in a directed cluster the neighbours of both
//! directions count. After each iteration, owners send the labels that changed to the ghosts. A shard counts
//! the labels in the part of a delegate's list that it stores, and sends the counts to the owner. In a
//! directed cluster it also counts the labels of the sources of its arcs for the owners of the targets. Work
//! O(m log d) an iteration. Messages an iteration: 12 bytes for each ghost whose label changed; directed, 24
//! for each label in the counts of a ghost. Memory: 8 bytes a vertex; directed, 16 more for each label in the
//! counts of a ghost.

use esker_format::{Error, Result};
use esker_graph::{Direction, Graph, Lists, VertexId, vertex};

use super::entry::{ClusterAlgorithm, RunOption};
use super::labels::Labels;
use super::local::{FoundValues, Local, Options};
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;

/// Labels with how often they occur.
type LabelCounts = Vec<(u64, u64)>;

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "cdlp",
    about: "communities by label propagation, as Graphalytics defines it",
    options: &[RunOption {
        name: "iterations",
        value_name: "N",
        about: "number of iterations [default: 10]",
        is_list: false,
    }],
    reads_weights: false,
    needs,
    run: cdlp,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let counted = if shape.directed { shape.arcs } else { 0 };
    // Communities have names too if ids are integers.
    let arrays = 88 * shape.vertices() + 2 * shape.names_bytes() + 64 * counted;
    let told = (12 * shape.mirrors + 24 * counted).max(8 * shape.owned).max(shape.named_bytes());
    AlgorithmNeeds {
        array_bytes: arrays + 64 * shape.arcs_of_parts(),
        sends: Sends::ARound(told.max(shape.ghost_id_bytes) + 24 * shape.arcs_of_parts()),
    }
}

fn cdlp(local: &Local<'_, '_>, engine: &mut Engine<'_>, options: &Options<'_>) -> Result<FoundValues> {
    let routes = local.routes;
    let iterations = options.integer("iterations", 10)?;
    let (names, mut labels) = Labels::of(local, engine)?;
    let (mut rounds, mut is_converged) = (0, false);
    while rounds < iterations && !is_converged {
        let next = propagate(local, engine, &labels)?;
        let changed = routes.owned().filter(|&v| next[v as usize] != labels[v as usize]).count();
        let changed_label = |v: VertexId| Some(next[v as usize]).filter(|&label| label != labels[v as usize]);
        let mut of_ghosts = Vec::new();
        let active = routes.to_ghosts(engine, changed as u64, changed_label, |ghost, label| {
            of_ghosts.push((ghost, label));
        })?;
        routes.owned().for_each(|v| labels[v as usize] = next[v as usize]);
        of_ghosts.into_iter().for_each(|(ghost, label)| labels[ghost as usize] = label);
        is_converged = active == 0;
        rounds += 1;
    }
    let own = routes.owned().map(|v| labels[v as usize]);
    let (communities, names) = names.name(local, engine, own)?;
    let outline = Outline::new(&[("community", ColumnKind::Id)], rounds)
        .with_fact("communities", communities as f64)
        .with_fact("converged", f64::from(u8::from(is_converged)));
    let cell = move |v: VertexId| names.get(&labels[v as usize]).cloned().map_or(Cell::Missing, Cell::Id);
    Ok((outline, Box::new(move |v, row| row.push(cell(v)))))
}

/// The labels of the own vertices after an iteration.
fn propagate(local: &Local<'_, '_>, engine: &mut Engine<'_>, labels: &[u64]) -> Result<Vec<u64>> {
    let (graph, routes) = (local.graph, local.routes);
    // Labels beside own vertices in other shards: vertex, label, how often.
    let mut elsewhere: Vec<(VertexId, u64, u64)> = Vec::new();
    if graph.is_directed() || routes.has_delegates() {
        let mut told = Vec::new();
        let mut tell = |direction, ghost: VertexId| {
            let mut beside = Vec::new();
            graph.with_list(direction, ghost, |others, _| {
                beside.extend(others.iter().map(|&other| (labels[other as usize], 1)));
            })?;
            // A label and its number travel as two values of the same ghost.
            told.extend(
                joined(beside).into_iter().flat_map(|(label, count)| [(ghost, label), (ghost, count)]),
            );
            Ok::<_, Error>(())
        };
        if graph.is_directed() {
            let mut ghosts = (0..labels.len()).map(vertex).filter(|&v| !routes.is_owned(v));
            ghosts.try_for_each(|ghost| tell(Direction::In, ghost))?;
        }
        routes.delegated_ghosts().iter().try_for_each(|&ghost| tell(Direction::Out, ghost))?;
        let mut half = None;
        routes.tell_owners(engine, 0, told.into_iter(), |v, value| match half.take() {
            None => half = Some(value),
            Some(label) => elsewhere.push((v, label, value)),
        })?;
        elsewhere.sort_unstable();
    }
    let mut next = labels.to_vec();
    let mut rest = &elsewhere[..];
    for v in routes.owned() {
        if v % (1 << 12) == 0 {
            local.run.check()?;
        }
        let (of_v, others) = rest.split_at(rest.iter().take_while(|(other, ..)| *other == v).count());
        rest = others;
        let mut beside: LabelCounts = of_v.iter().map(|&(_, label, count)| (label, count)).collect();
        let directions: &[Direction] =
            if graph.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] };
        for &direction in directions {
            graph.with_list(direction, v, |list, _| {
                beside.extend(list.iter().map(|&u| (labels[u as usize], 1)));
            })?;
        }
        // The last of the greatest: with labels reversed, the least label.
        let mode = joined(beside).into_iter().rev().max_by_key(|&(_, count)| count);
        if let Some((label, _)) = mode {
            next[v as usize] = label;
        }
    }
    Ok(next)
}

/// The distinct labels, ascending, with their numbers added up.
fn joined(mut tally: LabelCounts) -> LabelCounts {
    tally.sort_unstable();
    let mut all: LabelCounts = Vec::new();
    for (label, count) in tally {
        match all.last_mut() {
            Some((last, sum)) if *last == label => *sum += count,
            _ => all.push((label, count)),
        }
    }
    all
}
