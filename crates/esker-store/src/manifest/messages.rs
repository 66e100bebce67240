//! Messages of forgotten versions: some say how far a stream was read, and the stream goes on from there.

use esker_format::{Edit, KeptMessage, VersionRecord};

use super::content::Manifest;
use crate::position::StreamPosition;

/// So many messages are kept at most. Of more inputs, those that were read longest ago are forgotten.
pub const KEPT_MESSAGES_MAX: usize = 256;

impl Manifest {
    /// The edits that forget some of the ascending `versions` of the database, and keep what their messages
    /// say of streams: of each input, the newest position, and those before it that undoing changes may bring
    /// back.
    pub(crate) fn forgetting<'v>(
        &self,
        versions: impl IntoIterator<Item = &'v VersionRecord>,
        is_gone: impl Fn(u64) -> bool,
    ) -> Vec<Edit> {
        let (mut edits, mut kept, mut stay) = (Vec::new(), self.messages.clone(), Vec::new());
        for &VersionRecord { number, ref message, .. } in versions {
            if !is_gone(number) {
                stay.push(number);
                continue;
            }
            edits.push(Edit::RemoveVersion { number });
            if StreamPosition::parse(message).is_some() {
                kept.push(KeptMessage { version: number, message: message.clone() });
            }
        }
        kept.sort_by_key(|message| message.version);
        let kept = needed(kept, &stay);
        let dropped = self.messages.iter().filter(|known| !kept.contains(known));
        edits.extend(dropped.map(|known| Edit::DropMessage { version: known.version }));
        edits.extend(kept.into_iter().filter(|one| !self.messages.contains(one)).map(Edit::KeepMessage));
        edits
    }

    /// The edits that drop the kept messages of the versions after `last`, which are undone.
    pub(crate) fn dropping_messages_after(&self, last: u64) -> impl Iterator<Item = Edit> {
        let later = self.messages.iter().filter(move |known| known.version > last);
        later.map(|known| Edit::DropMessage { version: known.version })
    }
}

/// Of ascending messages those that are needed if `stay` are the versions that stay: a later message about
/// the same input replaces one, unless the changes after a version between them may still be undone.
fn needed(messages: Vec<KeptMessage>, stay: &[u64]) -> Vec<KeptMessage> {
    let mut kept: Vec<KeptMessage> = Vec::new();
    for message in messages {
        let stays_between = |older: &KeptMessage| {
            let next = stay.get(stay.partition_point(|&version| version < older.version));
            next.is_some_and(|&version| version < message.version)
        };
        kept.retain(|older| !is_same_input(&older.message, &message.message) || stays_between(older));
        kept.push(message);
    }
    kept.split_off(kept.len().saturating_sub(KEPT_MESSAGES_MAX))
}

/// Whether two messages are about the same input: the file, if it is known, or what has its name.
fn is_same_input(one: &str, other: &str) -> bool {
    let (one, other) = (StreamPosition::parse(one), StreamPosition::parse(other));
    let is_same = |((name, one), (other_name, other)): ((_, StreamPosition), (_, StreamPosition))| match (
        one.file, other.file,
    ) {
        (Some(one), Some(other)) => one == other,
        _ => name == other_name,
    };
    one.zip(other).is_some_and(is_same)
}
