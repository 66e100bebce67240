//! Windows of a version, one after another, that share one reading of its edges.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use esker_algo::graph_series::GraphSeries;
use esker_graph::{Run, Stop};
use esker_store::View;
use esker_store::windows::{Copies, SHARED_WINDOWS_MAX, SharedLists, TimeWindow};

use super::absent::{NamedVertices, OfWindow};
use crate::answer::Answer;
use crate::catalogue::{Many, ManyFailure, Params, Resources, WeightReads};
use crate::computation::Computation;
use crate::error::{Error, Result};

/// Windows whose lists are copied again from those of this many times as many. So a window is selected from
/// lists that are not much longer than its own, if it overlaps with its neighbours.
const FAN_OUT: usize = 4;

/// Fewer windows are read from the layers one by one where these are arrays: counting a window and copying
/// its lists of one direction take less time than copying the lists of both directions with the slot of each
/// time. Measured for three windows.
const SHARED_MIN: usize = 8;

/// What is computed on each window, and how.
#[derive(Debug, Clone, Copy)]
pub struct WindowJob<'j> {
    /// The algorithm, its options, and how it is to read each window.
    pub computation: Computation<'j>,
    /// The resources of the run on a window.
    pub resources: &'j Resources,
    /// Whether vertices without an edge in a window are kept.
    pub all_vertices: bool,
}

impl WindowJob<'_> {
    /// The run on a window, with options of it, within what is left of the limit: lists that windows share,
    /// and the counts of a window that joins copies, take a part of it.
    fn answer(&self, windowed: &View, params: &Params, run: &Run) -> Result<(Answer, View)> {
        let planned =
            Computation { params, ..self.computation }.plan_beside(windowed, self.resources, run)?;
        Ok((planned.run(run)?, planned.view))
    }
}

/// The answer on a window.
#[derive(Debug)]
pub struct WindowAnswer {
    /// The window.
    pub window: TimeWindow,
    /// Number of vertices in the window.
    pub num_vertices: usize,
    /// Number of edges in the window.
    pub num_edges: u64,
    /// The answer; without rows and figures if the window lacks a vertex that it begins with.
    pub answer: Answer,
    /// That vertex, as an option names it.
    pub lacks: Option<String>,
}

/// Windows of a version, one after another.
///
/// The edges of up to [`SHARED_WINDOWS_MAX`] windows are copied to memory at a time, if they fit in half of
/// what is left of the budget of the run. Else those of fewer windows are, or each window reads the layers by
/// itself.
pub struct WindowSeries<'s> {
    view: &'s View,
    time: &'s str,
    windows: Vec<TimeWindow>,
    next: usize,
    shares: bool,
    /// The lists of windows around the next one: of many, then of some of these, and so on.
    lists: Vec<(Range<usize>, Arc<SharedLists>)>,
    run: &'s Run,
}

impl<'s> WindowSeries<'s> {
    /// Windows of the edges whose times are in the property `time`. With `shares`, lists are copied to
    /// memory.
    pub fn new(view: &'s View, time: &'s str, windows: Vec<TimeWindow>, shares: bool, run: &'s Run) -> Self {
        Self { view, time, windows, next: 0, shares, lists: Vec::new(), run }
    }

    /// Calls `visit` with the answer on each window, in order.
    ///
    /// Lists are shared by algorithms that read no weights, unless another way of reading is asked for.
    /// Components, degrees, coreness, breadth-first search and PageRank are computed on several windows at
    /// once, coreness and PageRank if these overlap enough; its scores then differ from those of a single run
    /// by rounding. A window without any of the vertices that an option names, such as the sources of a
    /// search, has an answer without rows and figures; a target that is not there, and some of several
    /// vertices, are left out.
    ///
    /// # Errors
    /// As [`View::window`], [`Computation::plan`] and [`Computation::run`]; what `visit` returns.
    pub fn answers<E: From<Error> + Send>(
        view: &'s View,
        time: &'s str,
        windows: Vec<TimeWindow>,
        job: &WindowJob<'_>,
        run: &'s Run,
        mut visit: impl FnMut(WindowAnswer) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let joins = windows.iter().any(|window| window.copies != Copies::All);
        let counts = windows.iter().any(|window| matches!(window.copies, Copies::Weighted(_)));
        let may_read = job.computation.entry.reads.weights != WeightReads::Never;
        let reads_weights = job.computation.entry.reads_weights(view) || counts && may_read;
        let is_plain = !view.is_filtered() && !view.is_reversed();
        let may_share = job.computation.request.is_free() && !reads_weights && is_plain;
        let suits =
            |many: &Many| may_share && !joins && !view.drops_directions() && many.may_pay(windows.len());
        let many = Many::of(job.computation.entry, job.computation.params)?.filter(suits);
        let are_few = windows.len() < SHARED_MIN && !joins && view.reads_arrays();
        let shares = may_share && (many.is_some() || !are_few);
        let named = match job.all_vertices {
            true => NamedVertices::default(),
            false => NamedVertices::of(job.computation.entry, job.computation.params, view.version(), run)?,
        };
        let mut series = Self::new(view, time, windows, shares, run);
        while series.next < series.windows.len() {
            if let Some(many) = &many
                && series.answer_many(many, job, &named, &mut visit)?
            {
                continue;
            }
            let Some((window, windowed)) = series.next(job.all_vertices)? else { break };
            let mut of_window = OfWindow { params: Cow::Borrowed(job.computation.params), lacks: None };
            if !named.is_empty() {
                let removed = windowed.removed(run).map_err(Error::from)?;
                of_window = named.in_window(job.computation.params, |v| !removed.is_removed(v));
            }
            if let Some(lacks) = of_window.lacks {
                visit(series.answer_without(lacks, window, &windowed, job)?)?;
                continue;
            }
            let (answer, windowed) = job.answer(&windowed, &of_window.params, run)?;
            let num_vertices =
                answer.vertices.as_ref().map_or(windowed.version().num_vertices(), |vertices| vertices.len());
            let num_edges = windowed.num_edges();
            visit(WindowAnswer { window, num_vertices, num_edges, answer, lacks: None })?;
        }
        Ok(())
    }

    /// The answer on a window that lacks a vertex with which it begins: that of the window with all vertices,
    /// which has the same columns, without its rows.
    fn answer_without(
        &self,
        lacks: &str,
        window: TimeWindow,
        windowed: &View,
        job: &WindowJob<'_>,
    ) -> Result<WindowAnswer> {
        let run = self.run;
        let whole = self.view.clone().window(self.time, window, true, run)?;
        let (answer, _) = job.answer(&whole, job.computation.params, run)?;
        Ok(WindowAnswer {
            window,
            num_vertices: windowed.num_present(run)?,
            num_edges: windowed.num_edges(),
            answer: answer.emptied(),
            lacks: Some(lacks.to_owned()),
        })
    }

    /// The version with its next window, and the window.
    ///
    /// # Errors
    /// As [`View::window`].
    pub fn next(&mut self, all_vertices: bool) -> Result<Option<(TimeWindow, View)>> {
        let Some(&window) = self.windows.get(self.next) else { return Ok(None) };
        self.share(FAN_OUT)?;
        let (view, run) = (self.view.clone(), self.run);
        let windowed = match self.lists.last() {
            Some((_, lists)) => view.shared_window(self.time, window, lists, all_vertices, run)?,
            None => view.window(self.time, window, all_vertices, run)?,
        };
        self.next += 1;
        Ok(Some((window, windowed)))
    }

    /// Hands over the answers on the next windows, if these are computed at once; returns whether they were.
    fn answer_many<E: From<Error> + Send>(
        &mut self,
        many: &Many,
        job: &WindowJob<'_>,
        named: &NamedVertices<'_>,
        visit: &mut impl FnMut(WindowAnswer) -> std::result::Result<(), E>,
    ) -> std::result::Result<bool, E> {
        self.share(many.graphs_max())?;
        let Some((range, lists)) = self.lists.last().filter(|(range, _)| range.start == self.next) else {
            return Ok(false);
        };
        let windows = &self.windows[range.clone()];
        let (out, incoming) = lists.rows();
        let members = lists.members(windows).map_err(Error::from)?;
        let series = GraphSeries::new(out, incoming, lists.is_directed(), members, windows.len())
            .map_err(Error::from)?;
        let (mut present, edges) = series.presence(self.run).map_err(Error::from)?;
        if job.all_vertices {
            let removed = self.view.removed(self.run).map_err(Error::from)?;
            present.fill(u64::MAX);
            removed.list().iter().for_each(|&v| present[v as usize] = 0);
        }
        if !many.pays(&series, &present, self.view.version(), self.run) {
            return Ok(false);
        }
        let mut done = 0;
        let found = many.answer(&series, &present, self.view.version(), self.run, |i, answer| {
            done = i + 1;
            let num_vertices = answer.vertices.as_ref().map_or(present.len(), |left| left.len());
            let lacks = named.in_window(job.computation.params, |v| present[v as usize] >> i & 1 == 1).lacks;
            let answer = if lacks.is_some() { answer.emptied() } else { answer };
            let (num_edges, lacks) = (edges[i], lacks.map(str::to_owned));
            visit(WindowAnswer { window: windows[i], num_vertices, num_edges, answer, lacks })
        });
        match found {
            Ok(()) => {}
            // Windows one by one take less memory.
            Err(ManyFailure::Compute(error)) if error.is_over_budget() && done == 0 => {
                return Ok(false);
            }
            Err(ManyFailure::Compute(error)) => return Err(E::from(error)),
            Err(ManyFailure::Visit(error)) => return Err(error),
        }
        self.next = range.end;
        Ok(true)
    }

    /// Copies the edges of as many windows as fit, from the next one on, unless only one does; then, from
    /// these, those of fewer windows, down to `count_max`.
    fn share(&mut self, count_max: usize) -> Result<()> {
        let next = self.next;
        self.lists.retain(|(range, _)| range.contains(&next));
        let mut count = (self.windows.len() - next).min(SHARED_WINDOWS_MAX);
        while self.shares && self.lists.is_empty() {
            if count < 2 {
                // The windows after these are as large: they would not fit either. The last window has
                // nothing to share.
                self.shares = false;
                break;
            }
            let windows = &self.windows[next..next + count];
            let free = self.run.budget().free_bytes();
            let lists = fitting(self.view.share_windows(self.time, windows, self.run), free, self.run)?;
            self.lists.extend(lists.map(|lists| (next..next + count, lists)));
            count /= FAN_OUT;
        }
        while let Some((range, lists)) = self.lists.last().filter(|(range, _)| range.len() > count_max) {
            let part = next..(next + range.len().div_ceil(FAN_OUT).max(count_max)).min(range.end);
            if part == *range {
                break;
            }
            let free = self.run.budget().free_bytes();
            let narrowed = fitting(lists.narrowed(&self.windows[part.clone()], self.run), free, self.run)?;
            let Some(narrowed) = narrowed else { break };
            self.lists.push((part, narrowed));
        }
        Ok(())
    }
}

impl std::fmt::Debug for WindowSeries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WindowSeries")
            .field("windows", &self.windows)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// Lists, unless they take more than half of the memory that was free before.
fn fitting(
    lists: esker_store::format::Result<SharedLists>,
    free_bytes: u64,
    run: &Run,
) -> Result<Option<Arc<SharedLists>>> {
    match lists {
        Ok(lists) => {
            let taken = free_bytes.saturating_sub(run.budget().free_bytes());
            Ok((taken <= free_bytes / 2).then(|| Arc::new(lists)))
        }
        Err(esker_store::Error::Stop(Stop::OverBudget { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
