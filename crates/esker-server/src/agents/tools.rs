//! The table of tools, and the schemas of their arguments.

use serde_json::{Map, Value, json};

use crate::computing::algorithms::COMPUTATION;
use crate::computing::rows::OF_ROWS;
use crate::failure::{Failure, Outcome};
use crate::query::{Parameter, Query};
use crate::routes::{ROUTES, Route, Verb};

/// The parameter that says how many rows are wanted.
const LIMIT: &str = "limit";
/// Rows of an answer for which nobody asked for more.
const ROWS_DEFAULT: usize = 100;
/// Rows of a ranking for which nobody asked for more.
pub(super) const TOP_DEFAULT: usize = 20;
/// The greatest number of rows of a ranking.
pub(super) const TOP_MAX: usize = 1000;

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) asks: Asks,
}

/// What a tool asks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asks {
    /// A route, by its path.
    Route(&'static str),
    /// The algorithms, or one of them.
    Algorithms,
    /// A run and its first rows.
    Run,
    /// Rows of the answer of a run.
    Rows,
}

/// All tools.
pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "describe",
        about: "Describes the graph: its size, the properties of its edges and vertices, kinds, times. Ask this first",
        asks: Asks::Route("/database"),
    },
    Tool {
        name: "search",
        about: "Finds vertices by the beginning of their ids; without a prefix, the vertices with most edges",
        asks: Asks::Route("/vertices"),
    },
    Tool {
        name: "vertex",
        about: "Describes one vertex: its degrees and properties",
        asks: Asks::Route("/vertex"),
    },
    Tool {
        name: "neighbors",
        about: "Lists the neighbours of a vertex, the most important first",
        asks: Asks::Route("/neighbors"),
    },
    Tool {
        name: "path",
        about: "Finds the shortest path between two vertices, by steps or by a weight",
        asks: Asks::Route("/path"),
    },
    Tool { name: "subgraph", about: "Lists the edges among some vertices", asks: Asks::Route("/subgraph") },
    Tool {
        name: "groups",
        about: "Groups edges by their ends and properties, and counts them or adds up a property",
        asks: Asks::Route("/groups"),
    },
    Tool {
        name: "windows",
        about: "Counts edges by steps of time, if edges have times",
        asks: Asks::Route("/window"),
    },
    Tool { name: "versions", about: "Lists the versions of the graph", asks: Asks::Route("/versions") },
    Tool { name: "diff", about: "Lists what changed between two versions", asks: Asks::Route("/diff") },
    Tool {
        name: "algorithms",
        about: "Lists the algorithms by the question that they answer; with a name, describes one and its options",
        asks: Asks::Algorithms,
    },
    Tool {
        name: "estimate",
        about: "Says what time and memory a run of an algorithm would take",
        asks: Asks::Route("/estimate"),
    },
    Tool {
        name: "run",
        about: "Runs an algorithm, and gives its figures and the first rows of its answer, or its largest groups. A \
                run that would take much is refused unless it is confirmed",
        asks: Asks::Run,
    },
    Tool {
        name: "rows",
        about: "Lists other rows of the answer of a run, sorted by a column, or those of some vertices",
        asks: Asks::Rows,
    },
];

/// The route of a path.
pub(super) fn route(path: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.path == path && route.verb != Verb::Delete)
}

impl Tool {
    /// The schema of its arguments.
    pub(super) fn schema(&self) -> Value {
        match self.asks {
            Asks::Route(path) => match route(path).map(|route| (route.body, route.parameters)) {
                Some((Some(body), _)) => body.schema(),
                Some((None, parameters)) => of_parameters(parameters, &[]),
                None => json!({ "type": "object" }),
            },
            Asks::Algorithms => of_parameters(&[OF_ALGORITHMS], &[]),
            Asks::Run => {
                let mut schema = COMPUTATION.schema();
                for parameter in OF_RUN {
                    schema["properties"][parameter.name] = described(parameter);
                }
                schema
            }
            Asks::Rows => of_parameters(&[OF_ROWS], &[RUN]),
        }
    }
}

/// How a caller gets what an answer does not show.
#[derive(Debug, Default)]
pub(super) struct Advice {
    /// The argument that asks for more rows, if more can be asked for.
    pub(super) more: Option<&'static str>,
    /// Whether the argument `offset` passes over rows.
    pub(super) pages: bool,
    /// Whether the tool `rows` shows others.
    pub(super) has_run: bool,
}

impl Advice {
    /// For an answer to these arguments.
    pub(super) fn of(tool: &Tool, arguments: Option<&Map<String, Value>>) -> Self {
        let properties = tool.schema()["properties"].take();
        let more = [LIMIT, "top"].into_iter().find(|name| {
            let (most, known) = (properties[name]["maximum"].as_u64(), !properties[name].is_null());
            let given = arguments.and_then(|arguments| arguments.get(*name)).and_then(Value::as_u64);
            known && given.zip(most).is_none_or(|(given, most)| given < most)
        });
        let has_run = matches!(tool.asks, Asks::Run);
        Self { more, pages: !properties["offset"].is_null(), has_run }
    }
}

/// The arguments of the tool for algorithms.
pub(super) const OF_ALGORITHMS: &[Parameter] = &[Parameter::text("name", "The name of one algorithm")];
/// The arguments of the tool for runs, beside those of a computation.
pub(super) const OF_RUN: &[Parameter] = &[
    Parameter::some("top", TOP_DEFAULT, TOP_MAX, "The greatest number of rows or groups"),
    Parameter::flag("confirm", "Begin the run also if it is estimated to take much"),
];
/// The argument that names a run.
pub(super) const RUN: Parameter =
    Parameter::text("run", "The name of the run, which its answer has").required();

fn described(parameter: &Parameter) -> Value {
    let mut schema = parameter.described()["schema"].take();
    schema["description"] = parameter.about.into();
    if parameter.name == LIMIT {
        schema["default"] = ROWS_DEFAULT.into();
    }
    schema
}

fn of_parameters(parameters: &[&[Parameter]], more: &[Parameter]) -> Value {
    let all = || parameters.iter().copied().flatten().chain(more);
    let properties: Map<String, Value> =
        all().map(|parameter| (parameter.name.to_owned(), described(parameter))).collect();
    let required: Vec<&str> =
        all().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Arguments as the parameters of a request. Fewer rows are meant where nothing says how many.
pub(super) fn query(
    arguments: &Map<String, Value>,
    known: &'static [&'static [Parameter]],
) -> Outcome<Query> {
    let mut given = Vec::new();
    for (name, value) in arguments {
        let values = match value {
            Value::Array(values) => values.iter().collect(),
            one => vec![one],
        };
        for value in values {
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Array(_) | Value::Object(_) => {
                    return Err(Failure::usage(format!("{name} is a text, a number, or true or false")));
                }
            };
            given.push((name.clone(), text));
        }
    }
    let has_limit = known.iter().copied().flatten().any(|parameter| parameter.name == LIMIT);
    if has_limit && !arguments.contains_key(LIMIT) {
        given.push((LIMIT.to_owned(), ROWS_DEFAULT.to_string()));
    }
    Query::of(given, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_routes_have_the_arguments_of_their_routes() {
        for tool in TOOLS {
            let schema = tool.schema();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            if let Some(limit) = schema["properties"].get(LIMIT) {
                assert_eq!(limit["default"], ROWS_DEFAULT, "{}", tool.name);
            }
            let Asks::Route(path) = tool.asks else { continue };
            let route = route(path).unwrap_or_else(|| panic!("{path}"));
            for parameter in route.parameters.iter().copied().flatten() {
                assert_ne!(schema["properties"][parameter.name]["description"], Value::Null, "{}", tool.name);
            }
        }
    }

    #[test]
    fn arguments_become_parameters() {
        static KNOWN: &[&[Parameter]] = &[&[
            Parameter::text("id", "").required(),
            Parameter::text("avoid", "").repeatable(),
            Parameter::count("limit", 1000, 5000, ""),
            Parameter::flag("reverse", ""),
        ]];
        let read = |arguments: Value| query(arguments.as_object().expect("an object"), KNOWN);
        let asked = read(json!({ "id": 7, "avoid": ["a", "b"], "reverse": true })).expect("a query");
        assert_eq!((asked.required("id"), asked.count("limit"), asked.flag("reverse")), ("7", 100, true));
        assert_eq!(asked.all("avoid").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(read(json!({ "id": "x", "limit": 3 })).expect("a query").count("limit"), 3);
        for wrong in
            [json!({}), json!({ "id": {} }), json!({ "id": 1, "x": 2 }), json!({ "id": 1, "limit": 9000 })]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
