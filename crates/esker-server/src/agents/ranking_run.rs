//! A run that is waited for, after an estimate allowed it.

use axum::http::StatusCode;
use esker::graph::Run;
use serde_json::{Map, Value, json};

use super::shared::Agents;
use super::tools::{OF_RUN, query};
use crate::ask::Ask;
use crate::computing::algorithms::{COMPUTATION, Wanted, estimate};
use crate::computing::rows::ranking;
use crate::computing::runs::Event;
use crate::failure::{Failure, Outcome};
use crate::served::Served;
use crate::work::Effort;

/// Seconds of a run that begins without a confirmation.
const SECONDS_MAX: f64 = 10.0;
/// A run without a confirmation takes this part of the memory limit at most.
const MEMORY_DIVISOR: u64 = 2;

/// Forgets a run, and so cancels it, if its caller goes away.
struct AwaitedRun<'a> {
    agents: &'a Agents,
    id: String,
    has_ended: bool,
}

impl Drop for AwaitedRun<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = self.agents.runs.forget(&self.id);
        }
    }
}

/// Runs an algorithm. Returns its figures, and the first rows of its answer.
pub(super) async fn run(agents: &Agents, arguments: Map<String, Value>) -> Outcome {
    let is_own = |name: &str| OF_RUN.iter().any(|parameter| parameter.name == name);
    let (own, body): (Map<_, _>, Map<_, _>) = arguments.into_iter().partition(|(name, _)| is_own(name));
    let (own, body) = (query(&own, &[OF_RUN])?, Value::Object(body));
    COMPUTATION.check_members(&body)?;
    let (is_confirmed, top) = (own.flag("confirm"), own.count("top"));
    let allowed = move |served: &Served, run: &Run| {
        let wanted = Wanted::of(&body)?;
        wanted.check(served, run)?;
        let estimate = estimate(&Ask { served, run, query: &own, body: &body })?;
        allow(&estimate, served, is_confirmed)?;
        Ok(wanted)
    };
    let wanted = agents.workers.answer(&agents.served, Effort::Large, allowed).await?;
    let id = agents.runs.start(&agents.served, wanted)?;
    let job = agents.runs.find(&id)?;
    let mut kept = AwaitedRun { agents, id, has_ended: false };
    let mut events = job.events();
    let last = events.wait_for(Event::is_last).await.map(|event| event.clone());
    kept.has_ended = true;
    let event = last.map_err(|_| cancelled())?;
    if event.name != "done" {
        let message = event.data["message"].as_str().map(str::to_owned);
        return Err(message.map_or_else(cancelled, |message| {
            Failure::refused(StatusCode::UNPROCESSABLE_ENTITY, "failed", message)
        }));
    }
    let finished = job.finished()?;
    let first = move |_: &Served, run: &Run| ranking(&finished, top, run);
    let first = agents.workers.answer(&agents.served, Effort::Large, first).await?;
    let Value::Object(mut answer) = event.data else { return Ok(first) };
    // The number of rows; their list comes from the ranking.
    answer.remove("rows");
    answer.insert("run".to_owned(), json!(kept.id));
    if let Value::Object(first) = first {
        answer.extend(first);
    }
    Ok(answer.into())
}

fn cancelled() -> Failure {
    Failure::refused(StatusCode::SERVICE_UNAVAILABLE, "cancelled", "the run was cancelled")
}

/// Refuses a run that does not fit, and one that takes much unless it is confirmed.
fn allow(estimate: &Value, served: &Served, is_confirmed: bool) -> Outcome<()> {
    let text = estimate["text"].as_str().unwrap_or_default();
    let refused = |message| Err(Failure::refused(StatusCode::UNPROCESSABLE_ENTITY, "over_budget", message));
    if estimate["fits"] != true {
        return refused(text.to_owned());
    }
    let seconds = estimate["seconds"].as_f64().unwrap_or(0.0);
    let memory = estimate["memory_bytes"].as_u64().unwrap_or(u64::MAX);
    let most = served.resources().memory.bytes() / MEMORY_DIVISOR;
    if !is_confirmed && (seconds > SECONDS_MAX || memory > most) {
        return refused(format!(
            "the run would take {text}: call again with confirm=true to begin it nevertheless, or ask for less"
        ));
    }
    Ok(())
}
