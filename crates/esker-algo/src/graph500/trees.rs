//! The trees of several searches, stored by vertex: the entries of a vertex in all trees are adjacent, so
//! validation looks up each edge once for all trees.

use esker_graph::{NONE, Stop, VertexId};

/// Largest number of trees validated together.
const TREES_MAX: usize = 32;

/// The answer of one search.
#[derive(Debug)]
pub struct Tree {
    /// The root, which is its own parent.
    pub root: VertexId,
    /// The parent of each vertex; [`NONE`] if it is not reached.
    pub parents: Vec<VertexId>,
    /// `None`: the distance is the number of steps from the root, computed from the parents.
    pub distances: Option<Vec<f64>>,
}

/// Several trees, indexed by the generator's vertex numbers.
#[derive(Debug)]
pub struct Graph500Trees<'a> {
    numbers: &'a [VertexId],
    /// Capacity in trees.
    width: usize,
    /// For each vertex, its distance in each tree; infinite if unreached.
    pub(super) distances: Vec<f64>,
    /// For each vertex, its parent in each tree: itself for the root, [`NONE`] if unreached.
    pub(super) parents: Vec<VertexId>,
    /// Whether every edge has length 1.
    pub(super) steps: bool,
    len: usize,
}

impl<'a> Graph500Trees<'a> {
    /// The number of trees that fit in memory together.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if none does.
    pub fn max_together(num_vertices: usize, memory_bytes: u64) -> Result<usize, Stop> {
        // The answer of one search is in memory as well.
        let one =
            (num_vertices.max(1) * (size_of::<f64>() + size_of::<VertexId>() + size_of::<u32>())) as u64;
        match memory_bytes.checked_sub(2 * one) {
            None => Err(Stop::OverBudget {
                what: "validating a tree".to_owned(),
                needed_bytes: 2 * one,
                budget_bytes: memory_bytes,
            }),
            Some(rest) => Ok(((rest / one) as usize + 1).min(TREES_MAX)),
        }
    }

    /// No trees, with capacity for `width`, at most 32. `numbers` has the generator's number of each vertex.
    pub fn new(numbers: &'a [VertexId], width: usize) -> Self {
        let cells = numbers.len() * width;
        Self {
            numbers,
            width,
            distances: vec![f64::INFINITY; cells],
            parents: vec![NONE; cells],
            steps: false,
            len: 0,
        }
    }

    pub(super) fn num_vertices(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The distances and the parents of a vertex in all trees.
    #[inline(always)]
    pub(super) fn row(&self, v: usize) -> (&[f64], &[VertexId]) {
        let cells = v * self.width..(v + 1) * self.width;
        (&self.distances[cells.clone()], &self.parents[cells])
    }

    /// Adds a tree after checking rule 1 of the specification: every chain of parents ends at the root.
    ///
    /// # Errors
    /// What breaks the rule.
    pub fn push(&mut self, tree: Tree) -> Result<(), String> {
        let steps = steps_to_root(tree.root, &tree.parents)?;
        self.steps = tree.distances.is_none();
        let distances = tree.distances.unwrap_or_else(|| {
            steps.iter().map(|&steps| if steps == NONE { f64::INFINITY } else { steps as f64 }).collect()
        });
        if distances.get(tree.root as usize) != Some(&0.0) {
            return Err(format!("the root {} is not at distance 0", self.numbers[tree.root as usize]));
        }
        let answers = distances.iter().zip(&tree.parents);
        for (&number, (&distance, &parent)) in self.numbers.iter().zip(answers) {
            if distance.is_finite() != (parent != NONE) {
                return Err(format!("vertex {number} has a distance or a parent but not both"));
            }
            let cell = number as usize * self.width + self.len;
            self.distances[cell] = distance;
            self.parents[cell] = if parent == NONE { NONE } else { self.numbers[parent as usize] };
        }
        self.len += 1;
        Ok(())
    }
}

/// Number of steps from each vertex up to the root; [`NONE`] for vertices without a parent.
fn steps_to_root(root: VertexId, parents: &[VertexId]) -> Result<Vec<VertexId>, String> {
    let mut steps = vec![NONE; parents.len()];
    if parents.get(root as usize) != Some(&root) {
        return Err(format!("the root {root} is not its own parent"));
    }
    steps[root as usize] = 0;
    let mut chain = Vec::new();
    for first in 0..parents.len() {
        let mut v = first;
        while steps[v] == NONE && parents[v] != NONE {
            if chain.len() > parents.len() {
                return Err(format!("the parents above {first} form a cycle"));
            }
            chain.push(v);
            v = parents[v] as usize;
        }
        if steps[v] == NONE && !chain.is_empty() {
            return Err(format!("the parents above {first} end at {v}, which has no parent"));
        }
        let mut step = steps[v];
        for v in chain.drain(..).rev() {
            step += 1;
            steps[v] = step;
        }
    }
    Ok(steps)
}
