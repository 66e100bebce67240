//! Checks the rules of the Graph500 specification against the generated edges.

use std::sync::atomic::{AtomicU32, Ordering};

use esker_graph::generate::{EdgeBlock, Generator, WeightColumn};
use esker_graph::{NONE, Run, Stop};

use super::trees::Graph500Trees;

/// The state of one thread.
struct Worker {
    block: EdgeBlock,
    /// For each tree, the number of edges between reached vertices.
    edges: Vec<u64>,
    wrong: Option<String>,
}

/// What edges say about trees.
#[derive(Debug)]
pub struct Findings {
    /// For each tree, the number of edges between reached vertices.
    pub edges: Vec<u64>,
    /// For each vertex, a bit for each tree in which the edge from its parent was found.
    pub met: Vec<u32>,
}

/// Checks all trees in one pass over the edges; returns for each tree the number of input edges in its
/// component, or the broken rule.
///
/// The ends of every edge are both reached or both unreached (rule 4), and their distances differ by at most
/// the length of the edge, which is 1 in breadth-first search (rules 2 and 3). Every reached vertex except
/// the root has an edge from its parent whose length is the difference of their distances (rules 2 and 5).
/// [`Graph500Trees::push`] has checked that parents form a tree (rule 1).
///
/// # Errors
/// Cancellation.
pub fn validate(
    trees: &Graph500Trees<'_>,
    generator: &Generator,
    run: &Run,
) -> Result<Result<Vec<u64>, String>, Stop> {
    let found = look_at_edges(trees, generator, run, 0, 1)?;
    Ok(found.and_then(|Findings { edges, met }| expect_met(trees, 0, &met).map(|()| edges)))
}

/// Checks all trees against the edges of one of `num_parts` equal parts, as far as single edges show: rules 2
/// to 4.
///
/// # Errors
/// Cancellation.
pub fn look_at_edges(
    trees: &Graph500Trees<'_>,
    generator: &Generator,
    run: &Run,
    part: u64,
    num_parts: u64,
) -> Result<Result<Findings, String>, Stop> {
    let mut met: Vec<AtomicU32> = Vec::new();
    met.resize_with(trees.num_vertices(), AtomicU32::default);
    let new_worker = || Worker { block: EdgeBlock::default(), edges: vec![0; trees.width()], wrong: None };
    let num_blocks = (generator.num_blocks() + num_parts - 1 - part) / num_parts;
    let workers = run.share(num_blocks as usize, new_worker, |worker, index| {
        generator.block(part + index as u64 * num_parts, &mut worker.block);
        check_block(trees, &met, worker);
        Ok::<_, Stop>(())
    })?;
    let mut edges = vec![0; trees.width()];
    for worker in workers {
        if let Some(wrong) = worker.wrong {
            return Ok(Err(wrong));
        }
        edges.iter_mut().zip(worker.edges).for_each(|(sum, part)| *sum += part);
    }
    Ok(Ok(Findings { edges, met: met.into_iter().map(AtomicU32::into_inner).collect() }))
}

/// Checks rule 5 for the vertices from `first` on for which `met` says in which trees any edge has shown
/// their parents.
///
/// # Errors
/// A vertex without an edge from its parent.
pub fn expect_met(trees: &Graph500Trees<'_>, first: usize, met: &[u32]) -> Result<(), String> {
    for (v, met) in (first..).zip(met) {
        for (tree, &parent) in trees.row(v).1.iter().enumerate() {
            if parent != NONE && parent as usize != v && met >> tree & 1 == 0 {
                return Err(format!("no edge of the right length joins {v} to its parent {parent}"));
            }
        }
    }
    Ok(())
}

fn check_block(trees: &Graph500Trees<'_>, met: &[AtomicU32], worker: &mut Worker) {
    let block = &worker.block;
    for (index, (&u, &v)) in block.sources.iter().zip(&block.targets).enumerate() {
        let length = match &block.weights {
            WeightColumn::Float(lengths) if !trees.steps => lengths[index],
            _ => 1.0,
        };
        let (u, v) = (u as usize, v as usize);
        let ((from, from_parents), (to, to_parents)) = (trees.row(u), trees.row(v));
        let mut sound = true;
        let (mut down, mut up) = (0, 0);
        for tree in 0..from.len() {
            worker.edges[tree] += u64::from(from[tree].is_finite());
            sound &= to[tree] <= from[tree] + length && from[tree] <= to[tree] + length;
            down |= u32::from(to_parents[tree] as usize == u && from[tree] + length == to[tree]) << tree;
            up |= u32::from(from_parents[tree] as usize == v && to[tree] + length == from[tree]) << tree;
        }
        if !sound {
            worker.wrong = Some(format!(
                "the distances of {u} and {v} differ by more than the length {length} of the edge between them"
            ));
            return;
        }
        if u != v {
            note(&met[v], down);
            note(&met[u], up);
        }
    }
}

fn note(met: &AtomicU32, trees: u32) {
    if met.load(Ordering::Relaxed) & trees != trees {
        met.fetch_or(trees, Ordering::Relaxed);
    }
}
