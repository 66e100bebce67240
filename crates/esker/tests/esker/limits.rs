//! Budgets and cancellation, for every algorithm of the catalogue.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use esker::catalogue::{Job, Params, Resources, find};
use esker::graph::{Cancel, Progress, Run, RunOptions, Stop, VertexId};
use esker::plan::estimate_on;
use esker::store::View;
use esker::{Error, MemoryLimit};

use crate::common::Sample;
use crate::forms::{Model, Weights};
use crate::requests::{Request, requests};

/// A path with chords, and a few vertices with more of them: many rounds and many arcs.
fn graph(num_vertices: u64) -> View {
    let chords = |v: u64| 1..=if v.is_multiple_of(100) { 30 } else { 4 };
    let edges = (1..num_vertices).flat_map(|v| chords(v).map(move |i| (v.saturating_sub(i), v)));
    let edges = edges.map(|(u, v)| (u as _, v as _)).collect();
    let sample = Sample { num_vertices: num_vertices as usize, directed: false, edges, seed: 1 };
    Model::new("path with chords".to_owned(), &sample, Weights::Small).plain()
}

fn stop(error: Error) -> Option<Stop> {
    match error {
        Error::Store(esker::store::Error::Stop(stop)) => Some(stop),
        _ => None,
    }
}

fn start(view: &View, request: &Request, options: RunOptions) -> Result<(), Error> {
    let run = Run::new(options).expect("threads");
    let job = Job { view, run: &run, params: &request.params, verify: false };
    request.entry.run(&job).map(drop)
}

/// Algorithms that fall back to less memory when their first choice does not fit.
const FRUGAL: [&str; 3] = ["triangles", "lcc", "cliques"];

#[test]
fn every_run_fits_its_estimate_and_is_refused_with_it() {
    let view = graph(700);
    for request in requests("0") {
        let resources = Resources {
            threads: 2,
            deterministic: false,
            memory: MemoryLimit::of(u64::MAX),
            rates: esker::rates::Rates::default(),
        };
        let estimate = estimate_on(&view, request.entry, &request.params, &resources);
        // The tables of the version are counted as well, but are not the run's.
        let mut needed = estimate.expect("an estimate").memory_bytes - view.version().stack().table_bytes();
        if request.entry.name == "bfs" && !request.params.flag("parents") {
            // The estimate counts the parents that verification would need.
            needed -= (view.version().num_vertices() * size_of::<VertexId>()) as u64;
        }
        let name = format!("{} {}", request.entry.name, request.variant);
        let limited = |bytes| RunOptions {
            threads: 2,
            budget: esker::graph::Budget::new(bytes),
            ..RunOptions::default()
        };
        start(&view, &request, limited(needed)).unwrap_or_else(|error| panic!("{name}: {error}"));
        match start(&view, &request, limited(needed - 1)) {
            Ok(()) => assert!(FRUGAL.contains(&request.entry.name), "{name}"),
            Err(error) => match stop(error) {
                Some(Stop::OverBudget { needed_bytes, .. }) => assert_eq!(needed_bytes, needed, "{name}"),
                other => panic!("{name}: {other:?}"),
            },
        }
    }
}

#[test]
fn cancelling_in_any_round_stops_every_run_soon() {
    let view = graph(10_000);
    for request in requests("0") {
        for (threads, last) in [(1, 1), (2, 1), (2, 2)] {
            let (cancel, cancelled_at) = (Cancel::default(), Arc::new(Mutex::new(None)));
            let (token, at) = (cancel.clone(), Arc::clone(&cancelled_at));
            let on_progress = Arc::new(move |progress: Progress<'_>| {
                if progress.round == last {
                    token.cancel();
                    *at.lock().expect("no panic") = Some(Instant::now());
                }
            });
            let options =
                RunOptions { threads, cancel, on_progress: Some(on_progress), ..RunOptions::default() };
            let outcome = start(&view, &request, options);
            let name = format!("{} {}", request.entry.name, request.variant);
            let Some(at) = *cancelled_at.lock().expect("no panic") else {
                assert!(last > 1, "{name} reports no round");
                continue;
            };
            let took = at.elapsed();
            assert_eq!(outcome.map_err(stop), Err(Some(Stop::Cancelled)), "{name}");
            // The promise is a tenth of a second; a busy machine may take longer.
            assert!(took < Duration::from_millis(500), "{name} took {took:?}");
        }
    }
}

#[test]
fn long_runs_tell_how_far_they_are() {
    const TELLING: [&str; 8] =
        ["betweenness", "closeness", "kcore", "triangles", "lcc", "cliques", "truss", "pagerank"];
    let view = graph(500);
    let plain = |request: &Request| request.variant.is_empty() && TELLING.contains(&request.entry.name);
    for request in requests("0").into_iter().filter(plain) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&told);
        let on_progress = Arc::new(move |progress: Progress<'_>| {
            assert!(!progress.stage.is_empty());
            shared.lock().expect("no panic").extend(progress.done);
        });
        let options = RunOptions { threads: 1, on_progress: Some(on_progress), ..RunOptions::default() };
        start(&view, &request, options).expect("an answer");
        let name = request.entry.name;
        let told = told.lock().expect("no panic").clone();
        assert!(told.len() > 1 && told.iter().all(|(done, total)| done <= total), "{name}: {told:?}");
        for parts in told.chunk_by(|a, b| a.1 == b.1) {
            assert!(parts.is_sorted(), "{name}: {parts:?}");
        }
    }
}

#[test]
fn cancelling_from_another_thread_stops_an_endless_run() {
    let view = graph(10_000);
    let cancel = Cancel::default();
    let run = Run::new(RunOptions { threads: 2, cancel: cancel.clone(), ..RunOptions::default() });
    let run = run.expect("threads");
    let params = Params::default().with("tolerance", "0").with("rounds", usize::MAX.to_string());
    let job = Job { view: &view, run: &run, params: &params, verify: false };
    std::thread::scope(|scope| {
        let running = scope.spawn(|| find("pagerank").expect("an entry").run(&job));
        std::thread::sleep(Duration::from_millis(100));
        cancel.cancel();
        let error = running.join().expect("no panic").expect_err("cancelled");
        assert_eq!(stop(error), Some(Stop::Cancelled));
    });
}
