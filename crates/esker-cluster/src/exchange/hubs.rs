//! Hubs: vertices that become delegates, and what moves then.
//!
//! Each process counts the edges that its own vertices get, in counters that several vertices share. Once a
//! counter reaches the degree of hubs, a version is made, and the owners look for own vertices with that many
//! edges. These become delegates with the next version: what they have at their owner moves to the owners of
//! the other ends in that version. Undirected edges between two shards lie there already.

use esker_format::{Error, Result};
use esker_graph::{Direction, Operation, Reservation, Setting, VertexId, message, vertex};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Database, Version};

use crate::exchange::outbox::put_edge;
use crate::model::owner::OwnedId;
use crate::model::placement::Placement;
use crate::net::engine::Engine;
use crate::net::wire::{MESSAGE_BYTES_MAX, Taker, put_id};

/// The most bytes of the delegates of a version: the command is told of them in one message.
const DELEGATES_BYTES_MAX: usize = MESSAGE_BYTES_MAX as usize - (1 << 10);
/// Number of counters: a power of two.
const COUNTERS_LEN: usize = 1 << 12;

/// Counts the edges of own vertices.
pub(crate) struct HubWatch {
    me: usize,
    /// The degree of hubs; 0: there is nothing to watch.
    degree: u64,
    counts: Vec<u64>,
    has_hub: bool,
}

impl HubWatch {
    pub(crate) fn new(me: usize, degree: u64) -> Self {
        Self { me, degree, counts: vec![0; COUNTERS_LEN], has_hub: false }
    }

    /// The degree of hubs.
    pub(crate) fn degree(&self) -> u64 {
        self.degree
    }

    /// Whether hubs are looked for.
    pub(crate) fn is_on(&self) -> bool {
        self.degree > 0
    }

    /// Whether an own vertex may have become a hub.
    pub(crate) fn has_hub(&self) -> bool {
        self.has_hub
    }

    /// Counts an edge of a vertex.
    #[inline]
    pub(crate) fn count(&mut self, placement: &Placement, id: ExternalId<'_>) {
        let hash = placement.owners().hash(id);
        if placement.owners().of_hash(hash) != self.me || placement.has(hash, id) {
            return;
        }
        // Owners are told by the first bits.
        let count = &mut self.counts[hash as usize % COUNTERS_LEN];
        *count += 1;
        self.has_hub |= *count >= self.degree;
    }

    /// The hubs among the own vertices that are no delegates. Counting begins anew.
    pub(crate) fn find(&mut self, version: &Version, placement: &Placement) -> Result<Vec<VertexId>> {
        self.counts.fill(0);
        self.has_hub = false;
        let mut hubs = Vec::new();
        if version.num_arcs() < self.degree {
            return Ok(hubs);
        }
        for v in (0..version.num_vertices()).map(vertex) {
            if (version.degree(Direction::Out, v)? as u64) < self.degree {
                continue;
            }
            let id = version.ids().external_of(v)?;
            if placement.owners().of(id) == self.me && !placement.is_delegate(id) {
                hubs.push(v);
            }
        }
        Ok(hubs)
    }
}

/// Tells all processes of the hubs of this one. Returns those of all, in the same order everywhere.
///
/// # Errors
/// [`Error::Invalid`] in all processes if they are too many for one version.
pub(crate) fn announce(
    version: &Version,
    hubs: &[VertexId],
    degree: u64,
    engine: &mut Engine<'_>,
) -> Result<Vec<OwnedId>> {
    let mut block = Vec::new();
    for &hub in hubs {
        put_id(&mut block, version.ids().external_of(hub)?);
    }
    let blocks = engine.exchange(vec![block; engine.peers()]);
    expect_few(blocks.iter().map(Vec::len).sum(), degree, DELEGATES_BYTES_MAX)?;
    let mut all = Vec::new();
    for block in blocks {
        let mut taker = Taker(&block);
        while !taker.is_empty() {
            all.push(taker.id(version.ids().is_text())?.into());
        }
    }
    Ok(all)
}

/// An error if the ids of new delegates take more bytes than a version can have. In a message each id has a
/// byte more than among processes, of at least four.
fn expect_few(id_bytes: usize, degree: u64, bytes_max: usize) -> Result<()> {
    if id_bytes + id_bytes / 4 <= bytes_max {
        return Ok(());
    }
    Err(Error::invalid(message![
        format!("more vertices have {degree} edges than can become delegates in one version: "),
        "make a database of the cluster with ",
        Operation::ClusterMerge,
        ", and a cluster of that with ",
        Operation::ClusterSplit,
        " and a greater ",
        Setting::HubDegree,
    ]))
}

/// What the budget is asked for when edges move.
const MOVING: &str = "the edges of vertices that become delegates";

/// An edge of a hub that leaves this shard.
struct Move<'a> {
    hub: VertexId,
    other: VertexId,
    source: ExternalId<'a>,
    target: ExternalId<'a>,
    /// The shard that it is sent to; `None`: it lies there already.
    to: Option<usize>,
    /// The bits of its weight, if edges have weights.
    weight: Option<u64>,
}

/// Visits the edges of hubs that leave shard `me`.
fn each_move(
    version: &Version,
    hubs: &[VertexId],
    old: &Placement,
    new: &Placement,
    me: usize,
    mut visit: impl FnMut(Move<'_>),
) -> Result<()> {
    let (ids, property) = (version.ids(), version.weight_property());
    for &hub in hubs {
        let source = ids.external_of(hub)?;
        let list = version.edges(Direction::Out, hub)?;
        for (index, &other) in list.targets().iter().enumerate() {
            let target = ids.external_of(other)?;
            let (was, is) = (old.of_edge(source, target), new.of_edge(source, target));
            if is.shard == me {
                continue;
            }
            let is_sent = was.shard != is.shard && was.other != Some(is.shard);
            let weight = property.filter(|_| is_sent).map(|weight| {
                let bits = list.bits(weight.number, index)?;
                bits_of(PropertyValue::from_stored(weight, bits))
            });
            let (to, weight) = (is_sent.then_some(is.shard), weight.transpose()?);
            visit(Move { hub, other, source, target, to, weight });
        }
    }
    Ok(())
}

/// What moves when vertices become delegates.
pub(crate) struct Moves {
    /// Edges for each shard, as they travel.
    sent: Vec<Vec<u8>>,
    /// Edges that this shard gives up.
    pub(crate) removed: Vec<(VertexId, VertexId)>,
    /// The memory of both, and of the copy of what is sent that the engine makes.
    held: Reservation,
}

impl Moves {
    /// Finds out which edges of own vertices that become delegates move. They are counted first, so that all
    /// their memory is reserved at once: a refusal then names the limit that suffices for it.
    ///
    /// # Errors
    /// As [`Database::reserve`]; those of the version.
    pub(crate) fn of(
        version: &Version,
        hubs: &[VertexId],
        old: &Placement,
        new: &Placement,
        engine: &Engine<'_>,
        database: &Database,
    ) -> Result<Self> {
        let me = engine.index();
        let (mut sent_bytes, mut removed_len, mut one) = (vec![0; engine.peers()], 0, Vec::new());
        each_move(version, hubs, old, new, me, |edge| {
            removed_len += 1;
            if let Some(to) = edge.to {
                one.clear();
                put_edge(&mut one, edge.source, edge.target, edge.weight);
                sent_bytes[to] += one.len();
            }
        })?;
        let removed_bytes = removed_len * size_of::<(VertexId, VertexId)>();
        let bytes = 2 * sent_bytes.iter().sum::<usize>() + removed_bytes;
        let held = database.reserve(MOVING, bytes as u64)?;
        let sent = sent_bytes.into_iter().map(Vec::with_capacity).collect();
        let mut moves = Self { sent, removed: Vec::with_capacity(removed_len), held };
        each_move(version, hubs, old, new, me, |edge| {
            moves.removed.push((edge.hub, edge.other));
            if let Some(to) = edge.to {
                put_edge(&mut moves.sent[to], edge.source, edge.target, edge.weight);
            }
        })?;
        Ok(moves)
    }

    /// Takes the edges that other shards give up to this one, and their memory: to be held until they are
    /// applied.
    ///
    /// # Errors
    /// As [`Database::reserve`], before anything is sent.
    pub(crate) fn exchange(
        mut self,
        engine: &mut Engine<'_>,
        database: &Database,
    ) -> Result<(Vec<Vec<u8>>, Reservation)> {
        let lens = self.sent.iter().map(|block| (block.len() as u64).to_le_bytes().to_vec()).collect();
        let arriving = engine.exchange(lens).iter().map(|len| Taker(len).u64()).sum::<Result<u64>>()?;
        self.held.absorb(database.reserve(MOVING, arriving)?);
        let blocks = engine.exchange(self.sent);
        // What was sent, and the copies, have arrived elsewhere.
        self.held.shrink_to(arriving);
        Ok((blocks, self.held))
    }
}

/// The bits of a weight as they travel.
fn bits_of(weight: PropertyValue<'_>) -> Result<u64> {
    match weight {
        PropertyValue::I64(weight) => Ok(weight as u64),
        PropertyValue::F64(weight) => Ok(weight.to_bits()),
        other => Err(Error::invalid(message![
            format!("a shard has the weight {other}, which no cluster writes: check the cluster with "),
            Operation::ClusterCheck,
        ])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command refused the message, after all shards had committed.
    #[test]
    fn more_delegates_than_a_message_holds_are_refused() {
        expect_few(80, 7, 100).expect("as many as fit");
        let message = expect_few(84, 7, 100).expect_err("too many").to_string();
        assert!(message.contains("7 edges") && message.contains("greater `hub_degree`"), "{message}");
        // As integers with a byte each.
        let most = DELEGATES_BYTES_MAX / 10 * 8;
        expect_few(most, 7, DELEGATES_BYTES_MAX).expect("as many as fit");
        assert!(most / 8 * 9 + 32 < MESSAGE_BYTES_MAX as usize);
    }
}
