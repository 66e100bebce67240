//! Labels of vertices that have the order of their external ids: integers as they are, texts by their rank
//! among all texts of the cluster.
//!
//! Texts are ranked by a sample sort: each process sorts the ids of its own vertices and gives some as
//! samples; the samples divide the texts into a range for each process, which ranks what it gets and answers.
//! Memory: twice the texts of the own vertices.

use std::collections::HashMap;

use esker_format::{Error, Result};
use esker_graph::{Graph, Operation, message};
use esker_store::ids::ExternalId;

use super::local::Local;
use crate::model::answer::OwnedId;
use crate::net::engine::Engine;
use crate::net::wire::{Taker, put_bytes, put_u64};

/// Samples of each process.
const SAMPLES: usize = 64;

/// Where the vertices that labels stand for are known.
pub(crate) enum Labels {
    /// Labels are integer ids.
    Ids,
    /// Labels are ranks: the first rank of each process, and the texts of the ranks of this one.
    Ranks { starts: Vec<u64>, texts: Vec<Vec<u8>> },
}

impl Labels {
    /// The label of each vertex of the shard, ghosts among them.
    pub(crate) fn of(local: &Local<'_, '_>, engine: &mut Engine<'_>) -> Result<(Self, Vec<u64>)> {
        let (ids, n) = (local.version.ids(), local.graph.num_vertices());
        if !ids.is_text() {
            let mut labels = Vec::with_capacity(n);
            ids.each_external(0..n, |id| {
                let ExternalId::Int(id) = id else { return Err(broken()) };
                labels.push(id);
                Ok(())
            })?;
            return Ok((Self::Ids, labels));
        }
        let mut labels = vec![0; n];
        let mut own: Vec<(Vec<u8>, u64)> = Vec::with_capacity(local.routes.num_owned());
        for v in local.routes.owned() {
            let ExternalId::Text(text) = ids.external_of(v)? else { return Err(broken()) };
            own.push((text.to_vec(), v as u64));
        }
        own.sort_unstable();
        let firsts = divide(&own, engine)?;
        let mut questions = vec![Vec::new(); engine.peers()];
        for (text, _) in &own {
            let range = firsts.partition_point(|first| first <= text);
            put_bytes(&mut questions[range], text);
        }
        let asked = engine.exchange(questions);
        let mut texts = Vec::new();
        for block in &asked {
            let mut taker = Taker(block);
            while !taker.is_empty() {
                texts.push(taker.counted()?.to_vec());
            }
        }
        texts.sort_unstable();
        let mut starts = vec![0];
        for len in engine.gather(texts.len() as u64)? {
            starts.push(starts[starts.len() - 1] + len);
        }
        let start = starts[engine.index()];
        let mut answers = vec![Vec::new(); engine.peers()];
        for (answer, block) in answers.iter_mut().zip(&asked) {
            let mut taker = Taker(block);
            while !taker.is_empty() {
                let text = taker.counted()?;
                let place = texts.partition_point(|known| known.as_slice() < text);
                put_u64(answer, start + place as u64);
            }
        }
        // Ranges ascend with their processes, and answers come in the order of the questions: that of the own
        // texts.
        let answers = engine.exchange(answers).concat();
        let mut answers = Taker(&answers);
        for (_, v) in &own {
            labels[*v as usize] = answers.u64()?;
        }
        let told = labels.clone();
        local.routes.to_ghosts(
            engine,
            0,
            |v| Some(told[v as usize]),
            |v, label| labels[v as usize] = label,
        )?;
        Ok((Self::Ranks { starts, texts }, labels))
    }

    /// The process that knows the vertex of a label.
    fn process_of(&self, local: &Local<'_, '_>, label: u64) -> usize {
        match self {
            Self::Ids => local.owners.of(ExternalId::Int(label)),
            Self::Ranks { starts, .. } => starts.partition_point(|&start| start <= label).saturating_sub(1),
        }
    }

    /// Number of distinct labels of all processes, and the ids that those of this process stand for.
    pub(crate) fn name(
        &self,
        local: &Local<'_, '_>,
        engine: &mut Engine<'_>,
        labels: impl Iterator<Item = u64>,
    ) -> Result<(u64, HashMap<u64, OwnedId>)> {
        let mut distinct: Vec<u64> = labels.collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut questions = vec![Vec::new(); engine.peers()];
        distinct.iter().for_each(|&label| put_u64(&mut questions[self.process_of(local, label)], label));
        let asked = engine.exchange(questions);
        let (mut answers, mut known) = (vec![Vec::new(); engine.peers()], Vec::new());
        for (answer, block) in answers.iter_mut().zip(&asked) {
            let mut taker = Taker(block);
            while !taker.is_empty() {
                let label = taker.u64()?;
                known.push(label);
                if let Self::Ranks { starts, texts } = self {
                    let place = label.checked_sub(starts[engine.index()]).ok_or_else(broken)?;
                    put_u64(answer, label);
                    put_bytes(answer, texts.get(place as usize).ok_or_else(broken)?);
                }
            }
        }
        known.sort_unstable();
        known.dedup();
        let [count] = engine.sum([known.len() as u64])?;
        let mut names = HashMap::new();
        for block in engine.exchange(answers) {
            let mut taker = Taker(&block);
            while !taker.is_empty() {
                names.insert(taker.u64()?, OwnedId::Text(taker.counted()?.to_vec()));
            }
        }
        if matches!(self, Self::Ids) {
            names.extend(distinct.into_iter().map(|label| (label, OwnedId::Int(label))));
        }
        Ok((count, names))
    }
}

fn broken() -> Error {
    let found = "a shard and its labels do not fit together: check the cluster with ";
    Error::invalid(message![found, Operation::ClusterCheck])
}

/// The first text of the range of each process but process 0, the same in all processes.
fn divide(own: &[(Vec<u8>, u64)], engine: &mut Engine<'_>) -> Result<Vec<Vec<u8>>> {
    let mut block = Vec::new();
    let count = SAMPLES.min(own.len());
    (0..count).for_each(|i| put_bytes(&mut block, &own[i * own.len() / count].0));
    let mut samples = Vec::new();
    for block in engine.exchange(vec![block; engine.peers()]) {
        let mut taker = Taker(&block);
        while !taker.is_empty() {
            samples.push(taker.counted()?.to_vec());
        }
    }
    samples.sort_unstable();
    let peers = engine.peers();
    // Without samples there are no texts.
    let first = |process: usize| samples.get(process * samples.len() / peers).cloned().unwrap_or_default();
    Ok((1..peers).map(first).collect())
}
