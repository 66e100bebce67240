//! The algorithms, and what a run of one would take.

use esker::Selection;
use esker::catalogue::{CATALOGUE, Entry, Opt, OptDefault, OptKind, Params, Question, find};
use esker::computation::Computation;
use esker::graph::{Run, Stop};
use esker::session::Selected;
use esker::store::{self, ErrorKind};
#[cfg(feature = "mcp")]
use serde_json::Map;
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::failure::{Failure, HttpWords, Outcome, check_text};
use crate::limits::TEXTS_MAX;
use crate::selecting::{SELECTION, Selecting};
use crate::served::Served;
use crate::shape::Shape;

/// The answer of [`algorithms`].
pub(crate) const ALGORITHMS: Shape = Shape::Object(&[("groups", Shape::List(&GROUP))]);
const GROUP: Shape = Shape::Object(&[("question", Shape::Text), ("algorithms", Shape::List(&ALGORITHM))]);
const ALGORITHM: Shape = Shape::Object(&[
    ("name", Shape::Text),
    ("about", Shape::Text),
    ("columns", Shape::List(&Shape::Text)),
    ("figures", Shape::List(&Shape::Text)),
    ("undirected", Shape::Flag),
    ("options", Shape::List(&OPTION)),
]);
const OPTION: Shape = Shape::Object(&[
    ("name", Shape::Text),
    ("about", Shape::Text),
    ("type", Shape::Text),
    ("choices", Shape::Maybe(&Shape::List(&Shape::Text))),
    ("default", Shape::Maybe(&Shape::Text)),
    ("required", Shape::Flag),
    ("repeatable", Shape::Flag),
]);

/// All algorithms, by the question that they answer.
pub(crate) fn algorithms(_: &Ask<'_>) -> Outcome {
    let group = |question: &Question| {
        let answering = CATALOGUE.iter().filter(|entry| entry.question == *question);
        json!({ "question": question.text(), "algorithms": answering.map(algorithm).collect::<Vec<_>>() })
    };
    Ok(json!({ "groups": Question::ALL.iter().map(group).collect::<Vec<_>>() }))
}

/// One algorithm.
#[cfg(feature = "mcp")]
pub(crate) fn algorithm_of(name: &str) -> Outcome {
    check_text("the name of the algorithm", name)?;
    Ok(algorithm(find(name)?))
}

/// The names of all algorithms, each with a line about it, by the question that they answer.
#[cfg(feature = "mcp")]
pub(crate) fn names_of_algorithms() -> Value {
    let named = |question: &Question| {
        let answering = CATALOGUE.iter().filter(|entry| entry.question == *question);
        let lines = answering.map(|entry| (entry.name.to_owned(), entry.summary.into()));
        (question.text().to_owned(), lines.collect::<Map<String, Value>>().into())
    };
    Question::ALL.iter().map(named).collect::<Map<String, Value>>().into()
}

fn algorithm(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "about": entry.summary,
        "columns": entry.columns,
        "figures": entry.figures,
        "undirected": entry.undirected,
        "options": entry.options.iter().map(option).collect::<Vec<_>>(),
    })
}

fn option(option: &Opt) -> Value {
    let (kind, choices) = match option.kind {
        OptKind::Vertex => ("vertex", None),
        OptKind::Integer => ("integer", None),
        OptKind::Float => ("number", None),
        OptKind::Flag => ("boolean", None),
        OptKind::Property => ("text", None),
        OptKind::Choice(names) => ("choice", Some(names)),
    };
    let default = match option.default {
        OptDefault::Value(text) => Some(text),
        OptDefault::Off | OptDefault::Described(_) => None,
    };
    let about = match option.default {
        OptDefault::Described(sentence) => format!("{} [default: {sentence}]", option.help),
        OptDefault::Off | OptDefault::Value(_) => option.help.to_owned(),
    };
    json!({
        "name": option.name,
        "about": about,
        "type": kind,
        "choices": choices,
        "default": default,
        "required": option.required,
        "repeatable": option.repeatable,
    })
}

/// The body of a request to compute something.
pub(crate) const COMPUTATION: Shape = Shape::Partial(
    &[("algorithm", Shape::Text)],
    &[("options", Shape::Named(&Shape::Any)), ("selection", SELECTION), ("weight", Shape::Text)],
);

/// An algorithm, its options, and the graph that it is asked of.
pub(crate) struct Wanted {
    pub(crate) entry: &'static Entry,
    pub(crate) params: Params,
    pub(crate) weight: Option<String>,
    pub(crate) selecting: Selecting,
}

impl Wanted {
    /// Of the body of a request, whose members are known.
    pub(crate) fn of(body: &Value) -> Outcome<Self> {
        let name = body.get("algorithm").and_then(Value::as_str);
        let name = name.ok_or_else(|| Failure::usage("the body has `algorithm`, the name of one"))?;
        check_text("the name of the algorithm", name)?;
        let weight = match body.get("weight") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => {
                check_text("the weight", name)?;
                Some(name.clone())
            }
            Some(_) => return Err(Failure::usage("the weight is the name of an edge property")),
        };
        let selecting = Selecting::of_body(body.get("selection").unwrap_or(&Value::Null))?;
        let selecting = selecting.weighted_by(weight.as_deref());
        let entry = find(name)?;
        let params = params(entry, body.get("options"))?;
        entry.check_params(&params)?;
        Ok(Self { entry, params, weight, selecting })
    }

    /// Refuses what the run would refuse, whatever memory is free, without a scan of the edges.
    pub(crate) fn check(&self, served: &Served, run: &Run) -> Outcome<()> {
        let (version, selection) = self.selecting.clone().resolve(served, run)?;
        selection.local(&version, run)?;
        // Conditions and windows read edges; without them, the same options make sense.
        let (conditions, kinds) = (Vec::new(), Vec::new());
        let whole = Selection { conditions, kinds, window: None, ..selection };
        let view = whole.of(&version, run)?.view;
        let computation = Computation::of(self.entry, &self.params);
        computation.check(&view, run)?;
        match computation.plan(&view, served.resources()) {
            Err(error) if error.kind() != ErrorKind::OverBudget => Err(error.into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// The options of an algorithm.
fn params(entry: &Entry, options: Option<&Value>) -> Outcome<Params> {
    let mut params = Params::default();
    let members = match options {
        None | Some(Value::Null) => return Ok(params),
        Some(Value::Object(members)) => members,
        Some(_) => return Err(Failure::usage("the options are an object")),
    };
    if members.len() > TEXTS_MAX {
        return Err(Failure::usage(format!(
            "{} options are given, at most {TEXTS_MAX} are taken",
            members.len()
        )));
    }
    for (name, value) in members {
        check_text("the name of an option", name)?;
        let values = match value {
            Value::Array(values) => values.iter().collect(),
            one => vec![one],
        };
        let Some(option) = entry.options.iter().find(|option| option.name == name) else {
            // Also of an option that is not given: a misspelt one would be left out in silence.
            params.add(name, "true");
            entry.check_params(&params)?;
            continue;
        };
        if matches!(option.kind, OptKind::Flag) {
            for value in values {
                if flag(name, value)? {
                    params.add(name, "true");
                }
            }
            continue;
        }
        for value in values {
            match value {
                // As if it were not given.
                Value::Null => {}
                Value::String(text) => params.add(name, text),
                Value::Number(number) => params.add(name, number.to_string()),
                _ => return Err(Failure::usage(format!("the option {name} is a text or a number"))),
            }
        }
    }
    Ok(params)
}

/// Whether an option that is on or off is on; forms send texts.
fn flag(name: &str, value: &Value) -> Outcome<bool> {
    match value {
        Value::Null | Value::Bool(false) => Ok(false),
        Value::Bool(true) => Ok(true),
        Value::String(text) if matches!(text.as_str(), "true" | "false") => Ok(text == "true"),
        _ => Err(Failure::usage(format!("the option {name} is true or false, not {value}"))),
    }
}

/// The view that a run reads, with the number of its version.
pub(crate) fn selected(served: &Served, selecting: Selecting, run: &Run) -> Outcome<Selected> {
    let (version, selection) = selecting.resolve(served, run)?;
    Ok(selection.of(&version, run)?)
}

/// The answer of [`estimate`].
pub(crate) const ESTIMATE: Shape = Shape::Object(&[
    ("memory_bytes", Shape::Count),
    ("seconds", Shape::Maybe(&Shape::Number)),
    ("fits", Shape::Flag),
    ("text", Shape::Text),
]);

/// What a run would take.
pub(crate) fn estimate(ask: &Ask<'_>) -> Outcome {
    let Wanted { entry, params, selecting, .. } = Wanted::of(ask.body)?;
    let view = selected(ask.served, selecting, ask.run)?.view;
    let (computation, resources) = (Computation::of(entry, &params), ask.served.resources());
    computation.check(&view, ask.run)?;
    match computation.plan_beside(&view, resources, ask.run) {
        Ok(planned) => {
            let (memory, seconds) =
                (planned.plan.estimate.memory_bytes, planned.plan.chosen().price.seconds());
            let text = format!("about {seconds:.2} s and {:.1} MiB", memory as f64 / f64::from(1 << 20));
            Ok(json!({ "memory_bytes": memory, "seconds": seconds, "fits": true, "text": text }))
        }
        Err(error) => {
            let esker::Error::Store(store::Error::Stop(Stop::OverBudget { needed_bytes, .. })) = &error
            else {
                return Err(error.into());
            };
            let text = error.message().render(&HttpWords);
            Ok(json!({ "memory_bytes": needed_bytes, "seconds": null, "fits": false, "text": text }))
        }
    }
}
