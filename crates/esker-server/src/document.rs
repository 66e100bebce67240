//! The OpenAPI document, made of the table of routes.

use serde_json::{Map, Value, json};

use crate::query::Parameter;
use crate::routes::{PREFIX, ROUTES, Route, Verb};
use crate::shape::Shape;

const FAILURE: Shape =
    Shape::Object(&[("error", Shape::Object(&[("kind", Shape::Text), ("message", Shape::Text)]))]);

/// The document.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(format!("{PREFIX}{}", route.path)).or_insert_with(|| json!({}));
        let verb = match route.verb {
            Verb::Get => "get",
            Verb::Post => "post",
            Verb::Delete => "delete",
        };
        path[verb] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Esker",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Questions about a database of Esker. Ids of vertices are texts, and so are integers \
                            beyond 2^53.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "session": { "type": "apiKey", "in": "cookie", "name": "esker-PORT" } },
        },
    })
}

fn operation(route: &Route) -> Value {
    let run = route.path.contains("{run}").then(|| {
        json!({ "name": "run", "in": "path", "required": true, "description": "The run", "schema": { "type": "string" } })
    });
    let others = route.parameters.iter().flat_map(|parameters| parameters.iter());
    let parameters: Vec<Value> = run.into_iter().chain(others.map(Parameter::described)).collect();
    let content = |shape: Shape| match shape.media_type() {
        Some(media_type) => json!({ media_type: { "schema": shape.schema() } }),
        None => json!({}),
    };
    let mut responses = json!({
        "default": { "description": "Why there is no answer", "content": content(FAILURE) },
    });
    responses[route.status().as_str()] =
        json!({ "description": "The answer", "content": content(route.answer) });
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "responses": responses,
        "security": if route.does.needs_session() { json!([{ "session": [] }]) } else { json!([]) },
    });
    if let Some(body) = route.body {
        operation["requestBody"] = json!({ "required": true, "content": content(body) });
    }
    operation
}
