//! Edges without a value of a property, where a run needs one.

use esker_format::{Error, PropertyRecord, Result, Values};
use esker_graph::{Direction, Flow, Run, Setting, VertexId, message};
use esker_layers::graph::StoredWeight;
use esker_layers::graph::views::window::{ListedArc, time_at};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::choice::View;
use super::part::WindowPart;
use crate::version::{ReservedBits, Version};

/// Vertices between two checks for cancellation.
const CHECK_VERTICES: usize = 1 << 14;

impl Version {
    /// Whether edges of this version may be without a value of a property. Reads no values: layers state
    /// the least. `false` is certain.
    pub fn may_lack(&self, property: &PropertyRecord) -> bool {
        let states_none = |(least, _)| least > i64::MIN;
        let has_sign = !property.is_text() && property.missing_bits().is_some_and(|bits| bits >> 32 != 0);
        property.optional && !(has_sign && self.stack().value_range(property.number).is_some_and(states_none))
    }

    /// The number of edges without a value of a property; an undirected one counts once. Reads all values if
    /// [`Version::may_lack`].
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn num_without(&self, property: &PropertyRecord, run: &Run) -> Result<u64> {
        if !self.may_lack(property) {
            return Ok(0);
        }
        let (view, reserved) = (self.view(), self.reserved_bits(property)?);
        let of_vertex = |v: usize| {
            let mut count = 0;
            let v = esker_graph::vertex(v);
            view.visit_missing(property, reserved, v, |target| {
                count += u64::from(self.is_directed() || v <= target);
                Flow::More
            })?;
            Ok(count)
        };
        let all = 0..self.num_vertices();
        run.install(|| all.into_par_iter().map(checked(run, of_vertex)).try_reduce(|| 0, |a, b| Ok(a + b)))
    }
}

impl View {
    /// Refuses weights of type `W` if an edge of the view has none.
    ///
    /// # Errors
    /// [`Error::Invalid`], which names the first such edge; [`Error::Corrupt`]; cancellation.
    pub(super) fn expect_weights_of<W: StoredWeight>(&self, run: &Run) -> Result<()> {
        if W::ELEMENT.is_none() { Ok(()) } else { self.expect_weights(run) }
    }

    /// Refuses the weights of the view if an edge of it has none.
    ///
    /// # Errors
    /// As [`View::expect_values`].
    pub fn expect_weights(&self, run: &Run) -> Result<()> {
        self.weight_property().map_or(Ok(()), |weight| self.expect_values(weight, run))
    }

    /// Refuses a property if an edge of the view is without a value of it. Reads all values, if
    /// [`Version::may_lack`].
    ///
    /// # Errors
    /// [`Error::Invalid`], which names the first such edge; [`Error::Corrupt`]; cancellation.
    pub fn expect_values(&self, property: &PropertyRecord, run: &Run) -> Result<()> {
        if !self.version.may_lack(property) {
            return Ok(());
        }
        let reserved = self.version.reserved_bits(property)?;
        let first_of = |v: usize| {
            let (v, mut first) = (esker_graph::vertex(v), None);
            self.visit_missing(property, reserved, v, |target| {
                first = Some((v, target));
                Flow::Enough
            })?;
            Ok(first)
        };
        let all = (0..self.version.num_vertices()).into_par_iter().map(checked(run, first_of));
        let found: Option<Result<_>> = run.install(|| all.find_map_first(Result::transpose));
        let Some((source, target)) = found.transpose()? else { return Ok(()) };
        let ids = self.version.ids();
        let (source, target) = (ids.external_of(source)?, ids.external_of(target)?);
        let name = &property.name;
        Err(Error::invalid(message![
            format!(
                "the edge from {source} to {target} has no value of {name:?}: leave such edges out with "
            ),
            Setting::Where.to(format!("{name} is not null")),
            ", or import with a value for them, with ",
            Setting::Default.to(format!("{name}=0")),
        ]))
    }

    /// Calls `take` with the targets of the arcs of the out-list of `v` in the view that are without a value
    /// of a property, until it has enough.
    fn visit_missing(
        &self,
        property: &PropertyRecord,
        reserved: ReservedBits,
        v: VertexId,
        mut take: impl FnMut(VertexId) -> Flow,
    ) -> Result<()> {
        let part = self.window.as_deref();
        let time = part.and_then(WindowPart::time);
        self.version.stack().visit(Direction::Out, v, |stretch| {
            let column = |number: u32| stretch.lists.property(number as usize);
            let times = time.and_then(column);
            for (index, &target) in (stretch.start..).zip(stretch.targets.iter()) {
                let bits = column(property.number).map_or(Ok(0), |values: &Values| values.bits_at(index))?;
                if !reserved.has(bits) {
                    continue;
                }
                let time = times.map(|times| time_at(times, index)).transpose()?;
                let window = part.map(|part| part.index().window());
                let is_inside = time.zip(window).is_none_or(|(time, window)| window.contains(time));
                let arc = ListedArc { source: v, target, lists: stretch.lists, index };
                let is_kept = || self.filter.as_ref().map_or(Ok(true), |filter| filter.keeps(&arc));
                if is_inside && is_kept()? && take(target) == Flow::Enough {
                    return Ok(Flow::Enough);
                }
            }
            Ok(Flow::More)
        })
    }
}

/// What `of_vertex` returns, unless the run was stopped.
fn checked<T>(run: &Run, of_vertex: impl Fn(usize) -> Result<T>) -> impl Fn(usize) -> Result<T> {
    move |v| {
        if v % CHECK_VERTICES == 0 {
            run.check()?;
        }
        of_vertex(v)
    }
}
