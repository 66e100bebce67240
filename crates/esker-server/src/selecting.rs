//! Which graph a question is about, from its parameters or its body.

use esker::Selection;
use esker::graph::Run;
use esker::session::WindowSelection;
use esker::store::Version;
use esker::store::format::LogicalType;
use esker::store::windows::TimeWindow;
use esker::window::{Span, TimePoint, Times};
use serde_json::Value;

use crate::failure::{Failure, Outcome, check_text};
use crate::limits::TEXTS_MAX;
use crate::query::{Parameter, Query};
use crate::served::Served;
use crate::shape::Shape;

/// The parameters of a selection.
pub(crate) const OF_SELECTION: &[Parameter] = &[
    Parameter::text("at", "The version: a number, a tag, or a time; the newest without it"),
    Parameter::text(
        "window",
        "Only edges of a range of times: FROM..TO, both included, or a length such as 1h that ends with the latest",
    ),
    Parameter::text("where", "Only edges that meet a condition, in the words of SQL").repeatable(),
    Parameter::text("kind", "Only edges of this kind").repeatable(),
    Parameter::flag("reverse", "Turn all edges of a directed graph round"),
    Parameter::flag("undirected", "Read a directed graph as undirected"),
];

/// A selection in a body.
pub(crate) const SELECTION: Shape = Shape::Partial(
    &[],
    &[
        ("at", Shape::Any),
        ("window", Shape::Text),
        ("where", Shape::Any),
        ("kind", Shape::Any),
        ("reverse", Shape::Flag),
        ("undirected", Shape::Flag),
    ],
);

/// What was selected, before it is known of which version.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selecting {
    selection: Selection,
    window: Option<String>,
    /// The conditions as they were given.
    conditions: Vec<String>,
}

/// What was chosen of a version, as it was given.
pub(crate) struct Chosen<'a> {
    pub(crate) version: u64,
    pub(crate) conditions: Vec<String>,
    pub(crate) kinds: &'a [String],
    pub(crate) reversed: bool,
    pub(crate) undirected: bool,
}

impl Selecting {
    /// Of the parameters of a request.
    pub(crate) fn of_query(query: &Query) -> Outcome<Self> {
        let mut selecting = Self::default();
        for name in ["at", "window", "where", "kind"] {
            query.all(name).try_for_each(|value| selecting.add(name, value))?;
        }
        selecting.selection.reversed = query.flag("reverse");
        selecting.selection.undirected = query.flag("undirected");
        Ok(selecting)
    }

    /// Of the member of a body.
    pub(crate) fn of_body(body: &Value) -> Outcome<Self> {
        let mut selecting = Self::default();
        let members = match body {
            Value::Null => return Ok(selecting),
            Value::Object(members) => members,
            _ => return Err(Failure::usage("the selection is an object")),
        };
        for (name, value) in members {
            let flag = || match value {
                Value::Null => Ok(false),
                Value::Bool(flag) => Ok(*flag),
                other => Err(Failure::usage(format!("{name} is true or false, not {other}"))),
            };
            match name.as_str() {
                "at" | "window" | "where" | "kind" => {
                    texts(name, value)?.iter().try_for_each(|text| selecting.add(name, text))?;
                }
                "reverse" => selecting.selection.reversed = flag()?,
                "undirected" => selecting.selection.undirected = flag()?,
                _ => {
                    let known = "at, window, where, kind, reverse, undirected";
                    return Err(Failure::usage(format!("a selection has no {name:?}, but {known}")));
                }
            }
        }
        Ok(selecting)
    }

    fn add(&mut self, name: &str, value: &str) -> Outcome<()> {
        check_text(name, value)?;
        let before = match name {
            "where" => self.conditions.len(),
            "kind" => self.selection.kinds.len(),
            _ => 0,
        };
        if before >= TEXTS_MAX {
            return Err(Failure::usage(format!("{name} is given more than {TEXTS_MAX} times")));
        }
        match name {
            "at" => self.selection.version = Some(value.parse()?),
            "window" => self.window = Some(value.to_owned()),
            "kind" => self.selection.kinds.push(value.to_owned()),
            _ => {
                self.selection = std::mem::take(&mut self.selection).filtered(value)?;
                self.conditions.push(value.to_owned());
            }
        }
        Ok(())
    }

    /// With the weights of edges in a property.
    pub(crate) fn weighted_by(mut self, weight: Option<&str>) -> Self {
        self.selection.weight = weight.map(str::to_owned);
        self
    }

    /// What was chosen. A window is a condition, which names its ends whatever edges come later.
    pub(crate) fn chosen(
        &self,
        version: &Version,
        window: Option<(&Times, TimeWindow)>,
    ) -> Outcome<Chosen<'_>> {
        let window = window.map(|(times, range)| in_words(version, times, range)).transpose()?;
        Ok(Chosen {
            version: version.number(),
            conditions: self.conditions.iter().cloned().chain(window).collect(),
            kinds: &self.selection.kinds,
            reversed: self.selection.reversed,
            undirected: self.selection.undirected,
        })
    }

    /// Refuses to turn edges round where they are shown as they are stored.
    pub(crate) fn expect_directions(&self) -> Outcome<()> {
        let Selection { reversed, undirected, .. } = self.selection;
        match [("reverse", reversed), ("undirected", undirected)].iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Failure::usage(format!(
                "{name} has no effect here: edges are shown in the direction in which they are stored"
            ))),
            None => Ok(()),
        }
    }

    /// The version, and the selection of its edges.
    pub(crate) fn resolve(self, served: &Served, run: &Run) -> Outcome<(Version, Selection)> {
        let Self { mut selection, window, .. } = self;
        let version = served.version(selection.version.as_ref())?;
        // The version is found; a window would take the time of `at` for its end.
        selection.version = None;
        if let Some(text) = window {
            selection.window = Some(match text.split_once("..") {
                Some((from, to)) => between(&version, from, to, run)?,
                None => WindowSelection::of(text.parse::<Span>().map_err(Failure::usage)?),
            });
        }
        Ok((version, selection))
    }
}

/// A window as a condition.
fn in_words(version: &Version, times: &Times, window: TimeWindow) -> Outcome<String> {
    let literal = |time: i64| match version.edge_property(&times.property).map(|one| &one.logical) {
        Ok(LogicalType::Timestamp { .. }) => format!("'{}'", times.unit.format(time)),
        // The day that has the time.
        Ok(LogicalType::Date) => {
            format!("'{}'", times.unit.format(time).split('T').next().unwrap_or_default())
        }
        _ => time.to_string(),
    };
    let name = format!("\"{}\"", times.property.replace('"', "\"\""));
    Ok(format!("{name} > {} and {name} <= {}", literal(window.after), literal(window.until)))
}

/// The texts of a member: one or a list, of numbers too.
fn texts(name: &str, value: &Value) -> Outcome<Vec<String>> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Number(number) => Ok(vec![number.to_string()]),
        Value::Array(values) if name != "at" && name != "window" => {
            let one = |value: &Value| value.as_str().map(str::to_owned);
            let all = values.iter().map(one).collect::<Option<Vec<String>>>();
            all.ok_or_else(|| Failure::usage(format!("{name} is a list of texts")))
        }
        other => Err(Failure::usage(format!("{name} is a text, not {other}"))),
    }
}

/// The window from one time to another, both included.
fn between(version: &Version, from: &str, to: &str, run: &Run) -> Outcome<WindowSelection> {
    let times = Times::ending(&version.view(), None, None, run)?;
    let point = |text: &str| text.parse::<TimePoint>().map_err(Failure::usage);
    let (after, until) = (times.before(&point(from)?)?, times.last_of(&point(to)?)?);
    let length = until.checked_sub(after).filter(|length| *length > 0);
    let length =
        length.ok_or_else(|| Failure::usage(format!("the window {from}..{to} ends before it begins")))?;
    let length = length.to_string().parse::<Span>().map_err(Failure::usage)?;
    Ok(WindowSelection { until: Some(TimePoint::of_number(until)), ..WindowSelection::of(length) })
}
