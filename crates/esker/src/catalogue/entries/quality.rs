//! The entry of the quality of groups.

use std::collections::HashMap;

use esker_algo::Shape;
use esker_algo::algorithm::communities::agreement::{self, agreement};
use esker_algo::algorithm::communities::quality::{self, GivenGroups, quality};
use esker_algo::algorithm::components::wcc::{WccOptions, wcc};
use esker_algo::check::{self, QualityClaim};
use esker_algo::primitive::Ranked;
use esker_graph::{Graph, Run, VertexId, vertex};
use esker_store::StoredWeight;
use esker_store::format::ElementType;
use esker_store::property::PropertyValue;

use super::search::by_weight;
use crate::answer::{Answer, Fact};
use crate::catalogue::entry::{Entry, GraphReads, ListReads};
use crate::catalogue::job::{Job, timed};
use crate::catalogue::option::{Opt, OptRange};
use crate::catalogue::params::Params;
use crate::catalogue::question::Question;
use crate::catalogue::work::Workload;
use crate::error::Result;

pub(super) const QUALITY: Entry = Entry {
    name: "quality",
    summary: "Quality of groups: modularity, coverage, conductance, and agreement with other groups",
    question: Question::Communities,
    options: &[
        Opt::property(
            "labels",
            "Vertex property whose values are the groups; a vertex without one is a group",
        )
        .otherwise("connected components"),
        Opt::property("against", "Vertex property with other groups, for nmi and ari").otherwise("none"),
        Opt::float("resolution", "The resolution of modularity").within(OptRange::Above(0.0)).or("1"),
    ],
    reads: GraphReads::scans(ListReads::Both).weighted_if_chosen().counting_copies(),
    work: |_, _| Ok(Workload::new(1.5, 7.0, 6.0)),
    undirected: false,
    columns: &[],
    figures: &["groups", "modularity", "coverage", "conductance", "worst_conductance", "nmi", "ari"],
    edges: false,
    verifies: "Figures equal those of a serial sum over each group",
    run: |job| if job.view.asks_for_weights() { by_weight!(job, run_by) } else { run_by::<()>(job) },
    estimate: |shape, params, _| {
        let mut estimate = quality::estimate(shape);
        estimate.memory_bytes += labels_bytes(shape.num_vertices, params);
        Ok(estimate)
    },
};

/// A label in a table of all: its text, its number, and room.
const LABEL_BYTES: u64 = 96;

/// Memory for the groups of all vertices.
fn labels_bytes(num_vertices: u64, params: &Params) -> u64 {
    let id = size_of::<VertexId>() as u64;
    let table = |name| if params.text(name).is_some() { LABEL_BYTES } else { 0 };
    let compared = params.text("against").map_or(0, |_| agreement::memory_bytes(num_vertices));
    num_vertices * (2 * id + table("labels").max(table("against"))) + compared
}

/// The groups of all vertices, and their number.
struct Labels {
    of: Vec<VertexId>,
    /// The number of groups.
    groups: usize,
    /// More than the greatest group.
    end: usize,
}

impl Labels {
    fn given(&self) -> GivenGroups<'_> {
        GivenGroups { of: &self.of, count: self.end }
    }

    /// Those that a vertex property names.
    fn of_property(job: &Job<'_>, name: &str, num_vertices: usize) -> Result<Self> {
        let (property, remaining) = (job.view.version().vertex_property(name)?, job.remaining()?);
        let mut known: HashMap<Vec<u8>, VertexId> = HashMap::new();
        let (mut of, mut groups) = (Vec::with_capacity(num_vertices), 0);
        for v in 0..num_vertices {
            if v % (1 << 12) == 0 {
                job.run.check()?;
            }
            let origin = remaining.map_or(vertex(v), |remaining| remaining.origin(vertex(v)));
            let mut fresh = || {
                groups += 1;
                vertex(groups - 1)
            };
            of.push(match property.get(origin)? {
                None => fresh(),
                Some(value) => *known.entry(key(value)).or_insert_with(fresh),
            });
        }
        Ok(Self { of, groups, end: groups })
    }
}

/// What distinguishes a value from others of its property.
fn key(value: PropertyValue<'_>) -> Vec<u8> {
    match value {
        PropertyValue::Text(text) => text.to_vec(),
        PropertyValue::Vector(vector) => vector.bytes().to_vec(),
        // Both zeros are equal.
        PropertyValue::F32(0.0) | PropertyValue::F64(0.0) => 0_u64.to_le_bytes().to_vec(),
        number => number
            .bits()
            .map_or_else(|| format!("{number:?}").into_bytes(), |bits| bits.to_le_bytes().to_vec()),
    }
}

fn labels(job: &Job<'_>, graph: &impl Graph<Error = esker_store::Error>, run: &Run) -> Result<Labels> {
    match job.params.text("labels") {
        Some(name) => Labels::of_property(job, name, graph.num_vertices()),
        None => {
            let found = wcc(graph, run, &WccOptions::default())?;
            Ok(Labels { groups: found.components, end: found.labels.len(), of: found.labels })
        }
    }
}

fn run_by<W: StoredWeight + Ranked>(job: &Job<'_>) -> Result<Answer> {
    let graph = job.graph::<W>()?;
    let shape = Shape::of(&graph);
    let memory_bytes = quality::estimate(shape).memory_bytes + labels_bytes(shape.num_vertices, job.params);
    let run = &job.run.begin("groups", memory_bytes)?;
    let labels = labels(job, &graph, run)?;
    let resolution = job.params.get_or("resolution", 1.0)?;
    let (found, seconds) = timed(|| quality(&graph, run, labels.given(), resolution));
    let found = found?;
    job.verify("quality", &graph, |out, _| {
        let claim = QualityClaim {
            groups: &labels.of,
            resolution,
            modularity: found.modularity,
            coverage: found.coverage,
            conductance: found.conductance,
            worst_conductance: found.worst_conductance,
        };
        check::quality(out, graph.is_directed(), &claim)
    })?;
    let mut facts = vec![
        ("groups", Fact::Count(labels.groups as u64)),
        ("modularity", Fact::Float(found.modularity)),
        ("coverage", Fact::Float(found.coverage)),
        ("conductance", Fact::Float(found.conductance)),
        ("worst_conductance", Fact::Float(found.worst_conductance)),
    ];
    if let Some(name) = job.params.text("against") {
        let other = Labels::of_property(job, name, graph.num_vertices())?;
        let agreed = agreement(run, labels.given(), other.given())?;
        job.verify("quality", &graph, |_, _| {
            check::agreement(&labels.of, &other.of, agreed.nmi, agreed.ari)
        })?;
        facts.extend([("nmi", Fact::Float(agreed.nmi)), ("ari", Fact::Float(agreed.ari))]);
    }
    let arcs = graph.num_arcs();
    Ok(Answer { facts, rounds: found.rounds, arcs, seconds, ..Answer::default() })
}
