//! Weakly connected components: for every vertex the least external id of its component.
//!
//! Each process finds the components of its shard by union-find, as on one machine. Then shared vertices
//! lower the labels of the components that they join: in turns, ghosts tell their owners, and owners tell
//! their ghosts, until no label is lowered anywhere. Only lowered labels travel. Labels are ids if these are
//! integers; else the shard and number of a vertex, which the least id replaces in the end. Turns: at most
//! twice the number of shards' components on a shortest path between any two. Memory: an id, 16 bytes a
//! vertex.

use std::cell::Cell as Slot;
use std::collections::HashMap;

use esker_algo::algorithm::components::wcc::{WccOptions, wcc as components_of};
use esker_format::Result;
use esker_graph::{Graph, VertexId, vertex};
use esker_store::ids::ExternalId;

use super::entry::ClusterAlgorithm;
use super::local::{FoundValues, Local, Options};
use crate::model::answer::{Cell, ColumnKind, Outline, OwnedId};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;
use crate::net::wire::{Taker, put_id, put_u64};

/// Bits of a label that number a vertex within its shard.
const NUMBER_BITS: u32 = 48;
/// The turn of the first exchange.
const FIRST_TURN: u64 = 2;
/// What is known before counts as lowered in this turn, so that it is sent in both of the first two.
const BEFORE: u64 = FIRST_TURN - 1;

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "wcc",
    about: "weakly connected components, each named by its least id",
    options: &[],
    reads_weights: false,
    needs,
    run: wcc,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let id = size_of::<VertexId>() as u64;
    AlgorithmNeeds {
        array_bytes: (24 + id) * shape.vertices() + shape.names_bytes() + shape.full_degrees_bytes(),
        sends: Sends::ARound((12 * shape.ghosts.max(shape.mirrors)).max(shape.named_bytes())),
    }
}

fn wcc(local: &Local<'_, '_>, engine: &mut Engine<'_>, _: &Options<'_>) -> Result<FoundValues> {
    let (routes, ids) = (local.routes, local.version.ids());
    let roots = components_of(local.graph, local.run, &WccOptions::default())?.labels;
    let labels: Vec<Slot<u64>> = roots.iter().map(|_| Slot::new(u64::MAX)).collect();
    let lowered_in = vec![Slot::new(BEFORE); roots.len()];
    let lower = |v: VertexId, label: u64, turn: u64| {
        let root = roots[v as usize] as usize;
        if label < labels[root].get() {
            labels[root].set(label);
            lowered_in[root].set(turn);
        }
    };
    each_own_label(local, |v, label| lower(v, label, BEFORE))?;
    let mut turn = FIRST_TURN;
    loop {
        // What was lowered since the last turn of this kind sent labels.
        let is_new = |root: usize| lowered_in[root].get() + 2 >= turn;
        let news = (0..roots.len()).any(|v| roots[v] as usize == v && is_new(v));
        let label_of = |v: VertexId| {
            let root = roots[v as usize] as usize;
            is_new(root).then(|| labels[root].get())
        };
        let take = |v, label| lower(v, label, turn);
        let active = match turn % 2 {
            0 => routes.to_owners(engine, u64::from(news), label_of, take)?,
            _ => routes.to_ghosts(engine, u64::from(news), label_of, take)?,
        };
        if active == 0 {
            break;
        }
        turn += 1;
    }
    let label_of: Vec<u64> = roots.iter().map(|&root| labels[root as usize].get()).collect();
    let names = if ids.is_text() { least_ids(local, engine, &label_of)? } else { HashMap::new() };
    let components = count(local, engine, &label_of)?;
    let outline = Outline::new(&[("component", ColumnKind::Id)], turn - FIRST_TURN)
        .with_fact("components", components as f64);
    let cell = move |v: VertexId| {
        let label = label_of[v as usize];
        Cell::Id(names.get(&label).cloned().unwrap_or(OwnedId::Int(label)))
    };
    Ok((outline, Box::new(move |v, row| row.push(cell(v)))))
}

/// Calls `take` with the own vertices, and the label that each gives.
fn each_own_label(local: &Local<'_, '_>, mut take: impl FnMut(VertexId, u64)) -> Result<()> {
    let mut vertices = (0..local.graph.num_vertices()).map(vertex);
    local.version.ids().each_external(0..vertices.len(), |id| {
        let Some(v) = vertices.next().filter(|&v| local.routes.is_owned(v)) else { return Ok(()) };
        let label = match id {
            ExternalId::Int(id) => id,
            ExternalId::Text(_) => (local.routes.shard() as u64) << NUMBER_BITS | v as u64,
        };
        take(v, label);
        Ok(())
    })
}

/// Number of components: each is counted by the owner of the vertex that names it.
fn count(local: &Local<'_, '_>, engine: &mut Engine<'_>, label_of: &[u64]) -> Result<u64> {
    let mut components = 0;
    each_own_label(local, |v, label| components += u64::from(label == label_of[v as usize]))?;
    Ok(engine.sum([components])?[0])
}

/// The least id of each component, for the labels of own vertices. The shard in a label collects the least
/// ids of the other shards, and answers with the least of all.
fn least_ids(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    label_of: &[u64],
) -> Result<HashMap<u64, OwnedId>> {
    let mut least: HashMap<u64, ExternalId<'_>> = HashMap::new();
    for v in local.routes.owned() {
        let id = local.version.ids().external_of(v)?;
        least.entry(label_of[v as usize]).and_modify(|known| *known = id.min(*known)).or_insert(id);
    }
    let mut questions = vec![Vec::new(); engine.peers()];
    for (&label, &id) in &least {
        let block = &mut questions[(label >> NUMBER_BITS) as usize];
        put_u64(block, label);
        put_id(block, id);
    }
    let asked = engine.exchange(questions);
    let mut found: HashMap<u64, OwnedId> = HashMap::new();
    for block in &asked {
        let mut taker = Taker(block);
        while !taker.is_empty() {
            let (label, id) = (taker.u64()?, OwnedId::from(taker.id(true)?));
            let known = found.entry(label).or_insert_with(|| id.clone());
            if id < *known {
                *known = id;
            }
        }
    }
    let mut answers = vec![Vec::new(); engine.peers()];
    for (answer, block) in answers.iter_mut().zip(&asked) {
        let mut taker = Taker(block);
        while !taker.is_empty() {
            let label = taker.u64()?;
            taker.id(true)?;
            put_u64(answer, label);
            put_id(answer, found[&label].as_id());
        }
    }
    let mut names = HashMap::new();
    for block in engine.exchange(answers) {
        let mut taker = Taker(&block);
        while !taker.is_empty() {
            names.insert(taker.u64()?, OwnedId::from(taker.id(true)?));
        }
    }
    Ok(names)
}
