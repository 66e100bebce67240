//! The table of routes: requests are answered, and the OpenAPI document is made, from it.

use axum::http::StatusCode;

use esker::graph::Run;

use crate::ask::Ask;
use crate::computing::algorithms::{ALGORITHMS, COMPUTATION, ESTIMATE, algorithms, estimate};
use crate::computing::download::OF_DOWNLOAD;
use crate::computing::rows::{HISTOGRAM, OF_HISTOGRAM, OF_ROWS, ROWS, histogram, rows};
use crate::computing::runs::{EVENTS, Finished, STARTED};
use crate::failure::Outcome;
use crate::query::{Parameter, Query};
use crate::questions::changed::{DIFFERENCES, OF_DIFFERENCES, differences};
use crate::questions::description::{DATABASE, OF_VERSIONS, VERSIONS, database, versions};
use crate::questions::groups::{GROUPS, OF_GROUPS, groups};
use crate::questions::moments::{OF_WINDOW, WINDOW, window};
use crate::questions::scene::{OF_SCENE, OF_SUBGRAPH, SCENE, SUBGRAPH, scene, subgraph};
use crate::questions::vertices::{
    NEIGHBORS, OF_NEIGHBORS, OF_VERTEX, OF_VERTICES, VERTEX, VERTICES, neighbors, vertex, vertices,
};
use crate::questions::way::{OF_PATH, PATH, path};
use crate::selecting::OF_SELECTION;
use crate::shape::Shape;
use crate::work::Effort;

/// What all routes begin with.
pub(crate) const PREFIX: &str = "/api/v1";

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Delete,
}

/// One way to ask.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub(crate) verb: Verb,
    /// Below [`PREFIX`].
    pub(crate) path: &'static str,
    pub(crate) about: &'static str,
    pub(crate) parameters: &'static [&'static [Parameter]],
    /// The shape of the body of the request.
    pub(crate) body: Option<Shape>,
    pub(crate) answer: Shape,
    pub(crate) does: Does,
    pub(crate) effort: Effort,
}

/// How a request is answered.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    /// By JSON that a function makes on a thread of its own.
    Answer(fn(&Ask<'_>) -> Outcome),
    /// By JSON about the answer of a run.
    OfRun(fn(&Finished, &Query, &Run) -> Outcome),
    /// By the events of a run.
    Events,
    /// By a file with the answer of a run.
    Download,
    /// By the beginning of a run.
    Start,
    /// By the end of a run.
    Forget,
    /// By events about new versions.
    Changes,
    /// By a cookie.
    Session,
    /// By the document that describes the interface.
    Document,
}

impl Does {
    /// Whether the request needs the cookie of a session.
    pub(crate) fn needs_session(self) -> bool {
        !matches!(self, Self::Session | Self::Document)
    }
}

impl Route {
    const fn get(path: &'static str, about: &'static str, answer: Shape, does: Does) -> Self {
        let (body, effort) = (None, Effort::Small);
        Self { verb: Verb::Get, path, about, parameters: &[], body, answer, does, effort }
    }

    const fn post(path: &'static str, about: &'static str, body: Shape, answer: Shape, does: Does) -> Self {
        Self { verb: Verb::Post, body: Some(body), ..Self::get(path, about, answer, does) }
    }

    /// The status of an answer.
    pub(crate) fn status(&self) -> StatusCode {
        match self.answer {
            Shape::Nothing => StatusCode::NO_CONTENT,
            _ if matches!(self.does, Does::Start) => StatusCode::ACCEPTED,
            _ => StatusCode::OK,
        }
    }

    const fn with(self, parameters: &'static [&'static [Parameter]]) -> Self {
        Self { parameters, ..self }
    }

    /// The same, which may read much.
    const fn large(self) -> Self {
        Self { effort: Effort::Large, ..self }
    }
}

const TOKEN: Shape = Shape::Object(&[("token", Shape::Text)]);

/// All routes.
pub(crate) static ROUTES: &[Route] = &[
    Route::post(
        "/session",
        "Opens a session: exchanges the token of the link for a cookie",
        TOKEN,
        Shape::Nothing,
        Does::Session,
    ),
    Route::get("/openapi.json", "Describes this interface", Shape::Any, Does::Document),
    Route::get("/database", "Describes the newest version", DATABASE, Does::Answer(database)),
    Route::get("/versions", "Lists versions, the newest last", VERSIONS, Does::Answer(versions))
        .with(&[OF_VERSIONS]),
    Route::get("/diff", "Lists what changed between two versions", DIFFERENCES, Does::Answer(differences))
        .with(&[OF_DIFFERENCES])
        .large(),
    Route::get("/window", "Counts edges by steps of time", WINDOW, Does::Answer(window))
        .with(&[OF_WINDOW, OF_SELECTION])
        .large(),
    Route::get(
        "/groups",
        "Groups edges, and counts and adds up what they have",
        GROUPS,
        Does::Answer(groups),
    )
    .with(&[OF_GROUPS, OF_SELECTION])
    .large(),
    Route::get("/changes", "Tells of new versions as they are committed", CHANGES, Does::Changes),
    Route::get(
        "/vertices",
        "Completes ids, or lists the vertices with most edges",
        VERTICES,
        Does::Answer(vertices),
    )
    .with(&[OF_VERTICES, OF_SELECTION])
    .large(),
    Route::get("/vertex", "Describes a vertex", VERTEX, Does::Answer(vertex))
        .with(&[OF_VERTEX, OF_SELECTION]),
    Route::get("/neighbors", "Lists the neighbours of a vertex", NEIGHBORS, Does::Answer(neighbors))
        .with(&[OF_NEIGHBORS, OF_SELECTION]),
    Route::get("/scene", "Places a part of the graph for a picture", SCENE, Does::Answer(scene))
        .with(&[OF_SCENE, OF_SELECTION])
        .large(),
    Route::post(
        "/subgraph",
        "Lists the edges among some vertices",
        OF_SUBGRAPH,
        SUBGRAPH,
        Does::Answer(subgraph),
    )
    .large(),
    Route::get("/path", "Finds the shortest path between two vertices", PATH, Does::Answer(path))
        .with(&[OF_PATH, OF_SELECTION])
        .large(),
    Route::get("/algorithms", "Lists the algorithms", ALGORITHMS, Does::Answer(algorithms)),
    Route::post("/estimate", "Says what a run would take", COMPUTATION, ESTIMATE, Does::Answer(estimate))
        .large(),
    Route::post("/runs", "Begins a run of an algorithm", COMPUTATION, STARTED, Does::Start),
    Route {
        verb: Verb::Delete,
        ..Route::get("/runs/{run}", "Cancels and forgets a run", Shape::Nothing, Does::Forget)
    },
    Route::get("/runs/{run}/events", "Tells how far a run is, and how it ended", EVENTS, Does::Events),
    Route::get("/runs/{run}/rows", "Lists rows of the answer of a run", ROWS, Does::OfRun(rows))
        .with(&[OF_ROWS])
        .large(),
    Route::get("/runs/{run}/histogram", "Counts the values of a column", HISTOGRAM, Does::OfRun(histogram))
        .with(&[OF_HISTOGRAM])
        .large(),
    Route::get("/runs/{run}/download", "Sends the answer of a run as a file", Shape::File, Does::Download)
        .with(&[OF_DOWNLOAD])
        .large(),
];

const CHANGES: Shape = Shape::Events(&[("version", Shape::Object(&[("latest", Shape::Count)]))]);
