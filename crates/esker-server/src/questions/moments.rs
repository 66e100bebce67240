//! How many edges there are in each step of time.

use axum::http::StatusCode;
use esker::Error;
use esker::graph::{Direction, vertex};
use esker::store::Version;
use esker::store::windows::time_at;
use esker::window::Times;
use serde_json::{Value, json};

use super::description::{MOMENT, known_times, moment};
use crate::ask::Ask;
use crate::failure::{Failure, Outcome};
use crate::query::Parameter;
use crate::selecting::Selecting;
use crate::shape::Shape;

/// Vertices that a thread takes at a time.
const GRAIN: usize = 1 << 12;

/// The parameters of [`window`].
pub(crate) const OF_WINDOW: &[Parameter] =
    &[Parameter::some("steps", 60, 1000, "The greatest number of steps, of the same length")];

/// The answer of [`window`]: no more steps than the times have units. A step has the edges from one limit to
/// before the next; the last has those at the last limit too.
pub(crate) const WINDOW: Shape = Shape::Object(&[
    ("from", MOMENT),
    ("to", MOMENT),
    ("counts", Shape::List(&Shape::Count)),
    ("limits", Shape::List(&Shape::Text)),
]);

/// The times of the edges, which must be known to be times.
pub(crate) fn expect_times(ask: &Ask<'_>, version: &Version) -> Outcome<Times> {
    known_times(ask, version)?.ok_or_else(|| {
        let message = "no property of the edges is known to hold times: import the graph with its times named, or \
                       declare them";
        Failure::refused(StatusCode::UNPROCESSABLE_ENTITY, "no_times", message)
    })
}

/// Counts edges by steps of time.
pub(crate) fn window(ask: &Ask<'_>) -> Outcome {
    let (version, selection) = Selecting::of_query(ask.query)?.resolve(ask.served, ask.run)?;
    let view = selection.of(&version, ask.run)?.view;
    let times = expect_times(ask, &version)?;
    let Some((from, to)) = times.range else {
        let message = "there is no edge with a time";
        return Err(Failure::refused(StatusCode::UNPROCESSABLE_ENTITY, "no_times", message));
    };
    let property = version.edge_property(&times.property)?.number;
    let span = i128::from(to) - i128::from(from);
    let units = usize::try_from(span).unwrap_or(usize::MAX).max(1);
    let steps = ask.query.count("steps").min(units);
    let step_of = |time: i64| {
        let after = i128::from(time) - i128::from(from);
        let step = if span == 0 { 0 } else { after * steps as i128 / span };
        (step as usize).min(steps - 1)
    };
    let is_directed = version.is_directed();
    let counted = ask.run.share_ranges(
        version.num_vertices(),
        GRAIN,
        || vec![0_u64; steps],
        |counts, range| -> Result<(), Error> {
            for v in range.map(vertex) {
                view.visit_kept(Direction::Out, v, |other, lists, index| -> Result<(), Error> {
                    let Some(values) = lists.property(property as usize) else { return Ok(()) };
                    let time = time_at(values, index)?;
                    // An undirected edge is in two lists; missing times lie outside.
                    if (from..=to).contains(&time) && (is_directed || v <= other) {
                        counts[step_of(time)] += 1;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        },
    )?;
    let mut counts = vec![0_u64; steps];
    for part in counted {
        counts.iter_mut().zip(part).for_each(|(count, more)| *count += more);
    }
    // The first time of a step.
    let limit =
        |step: usize| from + (span * step as i128 + steps as i128 - 1).div_euclid(steps as i128) as i64;
    let limits: Vec<Value> = (0..=steps).map(|step| json!(times.format(limit(step)))).collect();
    Ok(json!({
        "from": moment(&times, from),
        "to": moment(&times, to),
        "counts": counts,
        "limits": limits,
    }))
}
