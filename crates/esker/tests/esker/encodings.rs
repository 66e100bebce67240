//! Every algorithm of the catalogue, verified on every form in which a database keeps a graph, and compared
//! with its answer on the plain one: awkward and random graphs, with no, equal and extreme weights.

use esker::answer::{Answer, Fact, Value};
use esker::catalogue::{Job, Params, find};
use esker::graph::{Run, RunOptions, vertex};

use crate::common::{self, Sample, shapes};
use crate::forms::{Form, Model, Weights};
use crate::requests::{Request, requests};

/// What differs from form to form, though all of it is right. Sets compete in the order in which lists come,
/// and which of several negative cycles is found depends on it too. A version among removed vertices has
/// other ids, which are the labels of this propagation.
fn varies(algorithm: &str, model: &Model, form: &Form) -> bool {
    match algorithm {
        "setcover" => true,
        "bellman-ford" => model.weights == Weights::Negative,
        "cdlp" => form.step > 1,
        _ => false,
    }
}

/// Of several right answers, which one is given depends on the order in which lists come.
pub(crate) const OF_MANY: &[&str] = &["parents", "claims"];

/// What reads weights only if they are named.
const BY_CHOICE: [&str; 9] =
    ["pagerank", "leiden", "louvain", "quality", "closeness", "harmonic", "eigenvector", "katz", "hits"];

/// Wedges to draw from a graph. The default suits graphs of any size, and drawing that many takes longer than
/// all other algorithms.
const SAMPLES: &str = "4096";

fn requests_on(form: &Form, source: u64) -> Vec<Request> {
    requests_from(&(source * form.step + form.first).to_string())
}

/// All requests from one source, with options by which all forms of a graph answer alike.
pub(crate) fn requests_from(source: &str) -> Vec<Request> {
    let mut all = requests(source);
    for Request { entry, params, variant } in &mut all {
        match *variant {
            "sample" => params.add("samples", SAMPLES),
            // The same paths as by default, which has all sources, with the sums divided by another number.
            "sum" | "pairs" | "fraction" => params.add("source", source),
            _ => {}
        }
        // So small that sums in another order end in the same round, or as good.
        if entry.option("tolerance").is_some() {
            params.add("tolerance", "1e-13");
        }
    }
    all
}

/// An edge and what stands beside it.
type Row = (Value, Vec<Value>);

/// An answer by the numbers of the vertices in the graph, without what may vary.
#[derive(Debug)]
struct Told {
    edges: Vec<Row>,
    columns: Vec<Vec<Value>>,
    facts: Vec<(&'static str, Fact)>,
}

/// Whether two numbers are the same but for the order in which sums were made.
pub(crate) fn is_near(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3)
}

fn are_near(left: &[Value], right: &[Value]) -> bool {
    let alike = |pair: (&Value, &Value)| match pair {
        (Value::Float(a), Value::Float(b)) => is_near(*a, *b),
        (a, b) => a == b,
    };
    left.len() == right.len() && left.iter().zip(right).all(alike)
}

impl Told {
    fn is_like(&self, other: &Self) -> bool {
        let same_edge = |(a, b): (&Row, &Row)| a.0 == b.0 && are_near(&a.1, &b.1);
        let same_fact = |pair: (&(&str, Fact), &(&str, Fact))| match pair {
            ((a, Fact::Float(x)), (b, Fact::Float(y))) => a == b && is_near(*x, *y),
            (a, b) => a == b,
        };
        self.edges.len() == other.edges.len()
            && self.columns.len() == other.columns.len()
            && self.facts.len() == other.facts.len()
            && self.edges.iter().zip(&other.edges).all(same_edge)
            && self.columns.iter().zip(&other.columns).all(|(a, b)| are_near(a, b))
            && self.facts.iter().zip(&other.facts).all(same_fact)
    }
}

fn told(form: &Form, answer: &Answer) -> Told {
    let place = |v: Value| match v {
        Value::Vertex(v) => Value::Vertex(vertex((v as usize - form.first as usize) / form.step as usize)),
        Value::Edge(u, v) => {
            let at = |v| vertex((v as usize - form.first as usize) / form.step as usize);
            Value::Edge(at(u).min(at(v)), at(u).max(at(v)))
        }
        other => other,
    };
    let column = |i: usize| -> Vec<Value> {
        let values = &answer.columns[i].values;
        (0..values.len()).map(|at| place(values.get(at))).collect()
    };
    let mut columns: Vec<Vec<Value>> = (0..answer.columns.len()).map(column).collect();
    let mut edges = Vec::new();
    if let Some(ends) = &answer.edges {
        edges.extend((0..ends.len()).map(|at| {
            let values = columns.iter().map(|column| column[at]).collect();
            (place(answer.key(at)), values)
        }));
        edges.sort_by_key(|(edge, _)| match *edge {
            Value::Edge(u, v) => (u, v),
            _ => (0, 0),
        });
        columns.clear();
    }
    // How wide buckets are is drawn from a sample of the lists; how near the last round came is not the
    // answer.
    let facts = answer.facts.iter().filter(|(name, _)| !["delta", "error"].contains(name));
    Told { edges, columns, facts: facts.cloned().collect() }
}

/// Runs an algorithm; `None` if it is right to refuse the graph.
fn outcome(model: &Model, form: &Form, run: &Run, request: &Request) -> Option<Told> {
    let Request { entry, params, variant } = request;
    let name = entry.name;
    let job = Job { view: &form.view, run, params, verify: true };
    let undirected = entry.undirected || matches!(*variant, "contraction" | "filter" | "sample");
    let expected = match (model.weights, name) {
        _ if undirected && model.directed => Some("undirected"),
        (Weights::Halves | Weights::Extreme, "wbfs") => Some("integer"),
        (Weights::Negative, "wbfs" | "sssp" | "flow") => Some("negative"),
        (Weights::Negative, _) if *variant == "weight" && BY_CHOICE.contains(&name) => Some("negative"),
        _ => None,
    };
    match (entry.run(&job), expected) {
        (Ok(answer), _) => Some(told(form, &answer)),
        (Err(error), Some(expected)) if error.to_string().contains(expected) => None,
        (Err(error), _) => panic!("{name} {variant} of {} as {}: {error}", model.name, form.name),
    }
}

fn agree(number: usize, model: &Model, run: &Run) {
    let forms = model.forms(run);
    assert!(forms.len() >= 10);
    agree_in_turn(number, &forms[0], &forms[1..], model, run);
}

/// Of how many requests a form of one graph answers one: most of the time goes into starting runs, so with
/// few cases the graphs share the pairs of form and request among themselves.
fn share() -> usize {
    if common::cases(200).cases < 100 { 3 } else { 1 }
}

/// Compares the answers on several forms of a model with those on one form, for the requests whose turn it is
/// on the graph of this number.
fn agree_in_turn(number: usize, plain: &Form, forms: &[Form], model: &Model, run: &Run) {
    // Every third graph is directed: graphs of all three remainders have the same turn.
    let turn = number / 3;
    agree_on(plain, forms, model, run, |form, request, _| (turn + form + request).is_multiple_of(share()));
}

/// The same, of the requests that are wanted by the numbers of the form and of the request.
pub(crate) fn agree_on(
    plain: &Form,
    forms: &[Form],
    model: &Model,
    run: &Run,
    wants: impl Fn(usize, usize, &Request) -> bool,
) {
    let source = model.num_vertices / 3;
    let plain: Vec<_> = requests_on(plain, source).iter().map(|r| outcome(model, plain, run, r)).collect();
    for (at_form, form) in forms.iter().enumerate() {
        for (at, (request, expected)) in requests_on(form, source).iter().zip(&plain).enumerate() {
            if !wants(at_form, at, request) {
                continue;
            }
            let found = outcome(model, form, run, request);
            let (name, variant) = (request.entry.name, request.variant);
            if varies(name, model, form) || OF_MANY.contains(&variant) {
                assert_eq!(found.is_some(), expected.is_some());
            } else {
                let alike = found
                    .as_ref()
                    .zip(expected.as_ref())
                    .map_or(found.is_none() && expected.is_none(), |(a, b)| a.is_like(b));
                assert!(
                    alike,
                    "{name} {variant} of {} as {}: {found:?}, not {expected:?}",
                    model.name, form.name
                );
            }
        }
    }
}

fn all_agree(samples: impl Iterator<Item = Sample>, kind: &str) {
    let options = RunOptions { threads: 2, seed: 3, deterministic: true, ..RunOptions::default() };
    let run = Run::new(options).expect("threads");
    for (i, sample) in samples.enumerate() {
        let weights = Weights::ALL[i % Weights::ALL.len()];
        let sample = Sample { directed: i % 3 == 1, ..sample };
        agree(i, &Model::new(format!("{kind} {i} with weights {weights:?}"), &sample, weights), &run);
    }
}

/// PageRank and communities by weights, in their own requests: the others take the weight of the import, and
/// these only if it is named.
#[test]
fn every_form_of_a_random_graph_answers_alike_by_weights() {
    let options = RunOptions { threads: 2, seed: 3, deterministic: true, ..RunOptions::default() };
    let run = Run::new(options).expect("threads");
    for (i, sample) in (1..9).map(random).enumerate() {
        let weights = Weights::ALL[1 + i % (Weights::ALL.len() - 1)];
        let sample = Sample { directed: i % 2 == 1, ..sample };
        let model = Model::new(format!("random graph {i} by weights {weights:?}"), &sample, weights);
        let mut forms = model.forms(&run);
        if model.weights == Weights::None {
            continue;
        }
        for form in &mut forms {
            form.view = form.view.clone().weighted_by("weight").expect("a weight");
        }
        let params = Params::default().with("tolerance", "1e-13").with("rounds", "1000");
        for name in BY_CHOICE {
            let entry = find(name).expect("an entry");
            let iterates = entry.option("tolerance").is_some();
            let params = if iterates { params.clone() } else { Params::default() };
            let request = Request { entry, params, variant: "weight" };
            let mut found = forms.iter().map(|form| outcome(&model, form, &run, &request));
            let plain = found.next().expect("the plain form");
            let is_refused = weights == Weights::Negative || request.entry.undirected && model.directed;
            assert_eq!(plain.is_none(), is_refused, "{name}");
            for other in found {
                match (&other, &plain) {
                    (Some(other), Some(plain)) => assert!(other.is_like(plain), "{other:?}, not {plain:?}"),
                    (other, plain) => assert_eq!(other.is_none(), plain.is_none()),
                }
            }
        }
    }
}

/// The flow between two vertices is the same on every form, and so is its cut: no request of the catalogue
/// names two vertices.
#[test]
fn every_form_of_a_random_graph_lets_as_much_through() {
    let run = Run::with_threads(2).expect("threads");
    for (i, sample) in (1..13).map(random).enumerate() {
        let weights = [Weights::None, Weights::Small, Weights::Wide, Weights::Halves][i % 4];
        let sample = Sample { directed: i % 2 == 1, ..sample };
        let model = Model::new(format!("random graph {i} with weights {weights:?}"), &sample, weights);
        let told = |form: &Form| {
            let id = |v: u64| (v * form.step + form.first).to_string();
            let ends = [id(model.num_vertices / 3), id(model.num_vertices / 5)];
            let params = Params::default().with("source", &ends[0]).with("target", &ends[1]);
            let request = Request { entry: find("flow").expect("an entry"), params, variant: "" };
            outcome(&model, form, &run, &request).expect("a flow")
        };
        let forms = model.forms(&run);
        let plain = told(&forms[0]);
        for form in &forms[1..] {
            let found = told(form);
            assert!(found.is_like(&plain), "{} as {}: {found:?}, not {plain:?}", model.name, form.name);
        }
    }
}

/// Each form of a directed graph, read as undirected, answers as the same graph imported without directions.
fn agree_without_directions(samples: impl Iterator<Item = Sample>, kind: &str) {
    let options = RunOptions { threads: 2, seed: 3, deterministic: true, ..RunOptions::default() };
    let run = Run::new(options).expect("threads");
    for (i, sample) in samples.enumerate() {
        let weights = Weights::ALL[i % Weights::ALL.len()];
        let name = format!("{kind} {i} with weights {weights:?}");
        let directed = Model::new(name, &Sample { directed: true, ..sample }, weights);
        let undirected = directed.undirected();
        let (name, view) = ("imported as undirected".to_owned(), undirected.plain());
        let plain = Form { name, view, step: 1, first: 0 };
        let mut forms = directed.forms(&run);
        forms.iter_mut().for_each(|form| form.view = form.view.clone().as_undirected());
        agree_in_turn(i, &plain, &forms, &undirected, &run);
    }
}

#[test]
fn every_form_of_an_awkward_directed_graph_can_be_read_as_undirected() {
    agree_without_directions(shapes::shapes(&[34], 6).into_iter(), "small shape");
}

#[test]
fn every_form_of_a_random_directed_graph_can_be_read_as_undirected() {
    agree_without_directions((0..8).map(random), "random graph");
}

#[test]
fn every_form_of_an_awkward_graph_gives_the_same() {
    all_agree(shapes::shapes(&[1, 34], 4).into_iter(), "small shape");
}

#[test]
fn every_form_of_a_larger_awkward_graph_gives_the_same() {
    all_agree(shapes::shapes(&[90], 5).into_iter(), "shape");
}

/// From empty to dense, with hubs. Twenty-four have all weights in both directions; `ESKER_CASES` sets the
/// number.
#[test]
fn every_form_of_a_random_graph_gives_the_same() {
    all_agree((0..u64::from(common::cases(150).cases)).map(random), "random graph");
}

fn random(seed: u64) -> Sample {
    let n = 5 + seed as usize * 7 % 71;
    let csr = common::skewed(n, n * (seed as usize % 9) / 2, true, seed);
    let view = csr.graph();
    let out = *view.rows(esker::graph::Direction::Out).expect("out-lists");
    let list = |v| out.list(vertex(v)).0.iter().map(move |&u| (vertex(v), u));
    Sample { num_vertices: n, directed: true, edges: (0..n).flat_map(list).collect(), seed }
}
