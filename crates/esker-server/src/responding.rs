//! From requests to responses.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use esker::graph::Run;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::ask::Ask;
use crate::computing::algorithms::Wanted;
use crate::computing::download::made;
use crate::computing::runs::Runs;
use crate::document::document;
use crate::failure::{Failure, Outcome};
use crate::guard::{API, Guard, harden};
use crate::limits::{BODY_BYTES_MAX, BODY_TIME_MAX};
use crate::page::FILES;
use crate::query::Query;
use crate::routes::{Does, PREFIX, ROUTES, Route, Verb};
use crate::served::Served;
use crate::shape::Shape;
use crate::strangers::Stranger;
use crate::streams::{Newest, of_run, of_versions};
use crate::work::{Workers, written};

/// Where an address has the name of a run, as in `/api/v1/runs/7/rows`.
const RUN_PLACE: usize = 4;

/// What all requests share.
pub(crate) struct Service {
    pub(crate) served: Arc<Served>,
    pub(crate) guard: Guard,
    pub(crate) workers: Workers,
    pub(crate) runs: Arc<Runs>,
    pub(crate) newest: Newest,
}

/// The routes.
pub(crate) fn router(service: &Arc<Service>) -> Router {
    let mut router = Router::new();
    for file in &FILES {
        let sent = async |headers: HeaderMap| file.response(&headers);
        router = router.route(file.path, alone(on(MethodFilter::GET, sent), GET));
    }
    // Browsers ask for it, and say in their console if it is missing.
    let no_icon = async || empty_response(StatusCode::NO_CONTENT);
    router = router.route("/favicon.ico", alone(on(MethodFilter::GET, no_icon), GET));
    for route in ROUTES {
        let (filter, methods) = match route.verb {
            Verb::Get => (MethodFilter::GET, GET),
            Verb::Post => (MethodFilter::POST, "POST"),
            Verb::Delete => (MethodFilter::DELETE, "DELETE"),
        };
        let handler = async move |State(service): State<Arc<Service>>, request: Request| {
            let answered = service.respond(route, request).await;
            answered.unwrap_or_else(|failure| service.refusal(&failure))
        };
        router = router.route(&format!("{PREFIX}{}", route.path), alone(on(filter, handler), methods));
    }
    let unknown = async |State(service): State<Arc<Service>>| {
        service.refusal(&Failure::refused(StatusCode::NOT_FOUND, "unknown", "there is nothing here"))
    };
    router.fallback(unknown).with_state(Arc::clone(service))
}

/// The methods of what can be read.
const GET: &str = "GET, HEAD";

/// The only route of an address; requests with other methods are told those that it takes.
fn alone(route: MethodRouter<Arc<Service>>, methods: &'static str) -> MethodRouter<Arc<Service>> {
    route.fallback(async move |State(service): State<Arc<Service>>| {
        let message = format!("this address takes {methods}");
        let failure = Failure::refused(StatusCode::METHOD_NOT_ALLOWED, "method", message);
        let mut response = service.refusal(&failure);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
        response
    })
}

/// Answers a request of a connection, if it is one to this server.
pub(crate) async fn answer(
    service: &Service,
    router: Router,
    stranger: &Stranger,
    request: Request,
) -> Response {
    if service.guard.check_session(request.headers()).is_ok() {
        stranger.has_session();
    }
    let checked = service.check(&request);
    let mut response = match checked {
        Ok(()) => routed(router, request).await,
        Err(failure) => service.refusal(&failure),
    };
    harden(response.headers_mut());
    response
}

async fn routed(mut router: Router, request: Request) -> Response {
    match tower_service::Service::call(&mut router, request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

impl Service {
    /// Refuses requests of others before anything else is looked at.
    fn check(&self, request: &Request) -> Outcome<()> {
        self.guard.check_source(request.headers(), request.uri())?;
        let path = request.uri().path();
        let is_open =
            |route: &Route| !route.does.needs_session() && path == format!("{PREFIX}{}", route.path);
        if path.starts_with(API) && !ROUTES.iter().any(is_open) {
            self.guard.check_session(request.headers())?;
        }
        Ok(())
    }

    async fn respond(self: &Arc<Self>, route: &'static Route, request: Request) -> Outcome<Response> {
        let run = request.uri().path().split('/').nth(RUN_PLACE).unwrap_or_default().to_owned();
        let query = Query::parse(request.uri().query().unwrap_or_default(), route.parameters)?;
        let body = match route.body {
            Some(shape) => body_of(request, shape).await?,
            None => Value::Null,
        };
        match route.does {
            Does::Answer(does) => {
                let written = self.workers.answer(&self.served, route.effort, move |served, run| {
                    written(does(&Ask { served, run, query: &query, body: &body })?)
                });
                Ok(json_response(route.status(), written.await?))
            }
            Does::OfRun(does) => {
                let finished = self.runs.find(&run)?.finished()?;
                let answer = move |_: &Served, run: &Run| written(does(&finished, &query, run)?);
                Ok(json_response(
                    route.status(),
                    self.workers.answer(&self.served, route.effort, answer).await?,
                ))
            }
            Does::Download => {
                let finished = self.runs.find(&run)?.finished()?;
                let file = move |served: &Served, of: &Run| {
                    made(&finished, query.choice("format"), &served.name(), &run, of)
                };
                self.workers.answer(&self.served, route.effort, file).await?.response()
            }
            Does::Events => Ok(of_run(self.runs.find(&run)?.events())),
            Does::Start => {
                let checked = move |served: &Served, run: &Run| {
                    let wanted = Wanted::of(&body)?;
                    wanted.check(served, run)?;
                    Ok(wanted)
                };
                let wanted = self.workers.answer(&self.served, route.effort, checked).await?;
                let id = self.runs.start(&self.served, wanted)?;
                Ok(json_response(route.status(), written(json!({ "run": id }))?))
            }
            Does::Forget => {
                self.runs.forget(&run)?;
                Ok(empty_response(route.status()))
            }
            Does::Changes => {
                // Nobody may have looked for new versions since the last client went away.
                let newest = |served: &Served, _: &Run| served.newest();
                self.newest.tell(self.workers.answer(&self.served, route.effort, newest).await?);
                Ok(of_versions(self.newest.watched()))
            }
            Does::Session => {
                let token = body.get("token").and_then(Value::as_str);
                let token = token.ok_or_else(|| Failure::usage("the body is {\"token\": \"...\"}"))?;
                let cookie = self.guard.open_session(token)?;
                let response = Response::builder().status(route.status()).header(SET_COOKIE, cookie);
                Ok(response.body(Body::empty()).unwrap_or_default())
            }
            Does::Document => Ok(json_response(route.status(), written(document())?)),
        }
    }

    fn refusal(&self, failure: &Failure) -> Response {
        let (status, body) = failure.told(self.served.path());
        json_response(status, body.to_string().into_bytes())
    }
}

/// The body of a request, which is JSON of this shape.
async fn body_of(request: Request, shape: Shape) -> Outcome {
    let media_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|value| value.split(';').next()).map(str::trim);
    // A form of another site cannot send this type.
    if !media_type.is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json")) {
        let message = "the body is JSON, with the content type application/json";
        return Err(Failure::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", message));
    }
    let Ok(read) = timeout(BODY_TIME_MAX, to_bytes(request.into_body(), BODY_BYTES_MAX)).await else {
        let message = "the body did not come in time";
        return Err(Failure::refused(StatusCode::REQUEST_TIMEOUT, "slow", message));
    };
    let bytes = read.map_err(|_| {
        let message = format!("the body broke off, or has more than {BODY_BYTES_MAX} bytes");
        Failure::refused(StatusCode::PAYLOAD_TOO_LARGE, "body", message)
    })?;
    let body = serde_json::from_slice(&bytes);
    let body = body.map_err(|error| Failure::usage(format!("the body is not JSON: {error}")))?;
    shape.check_members(&body)?;
    Ok(body)
}

fn empty_response(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
