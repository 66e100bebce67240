//! The edits of a manifest, as values.

use crate::error::Result;
use crate::file::field::{FieldInput, FieldValue};
use crate::file::header::IdSecret;
use crate::layout::heads::HeadsRecord;
use crate::layout::manifest::{EditKind, IdMapRecord, LayerRecord, LogMark, PropertyRecord};
use crate::layout::options::{StreamRecord, WriteOptions};
use crate::layout::reading::{EventTimes, ReadingRecord};
use crate::layout::tile::{KeptForms, TilesRecord};
use crate::layout::version::{Duplicates, KeptMessage, Retention, TagRecord, VersionRecord};

/// A change of the manifest's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Adds a layer.
    AddLayer(LayerRecord),
    /// Sets the map of external ids.
    SetIdMap(IdMapRecord),
    /// Defines a property.
    AddProperty(PropertyRecord),
    /// Replaces a property, whose values have a wider type now.
    SetProperty(PropertyRecord),
    /// Publishes a version.
    AddVersion(VersionRecord),
    /// Removes a layer and its tiles.
    RemoveLayer {
        /// Its number.
        number: u32,
    },
    /// Names a version. An older use of the name ends.
    SetTag(TagRecord),
    /// Removes a tag.
    RemoveTag {
        /// The tag.
        name: String,
    },
    /// Removes a version.
    RemoveVersion {
        /// Its number.
        number: u64,
    },
    /// Sets which versions to keep.
    SetRetention(Retention),
    /// Adds tiles to a layer.
    SetTiles(TilesRecord),
    /// Removes the tiles of a layer.
    RemoveTiles {
        /// The layer.
        layer: u32,
    },
    /// Sets the secret that keys the hash of external ids.
    SetIdSecret(IdSecret),
    /// Records how far the log reaches at least.
    SetLog(LogMark),
    /// Sets the rule for duplicate edges.
    SetDuplicates(Duplicates),
    /// Adds heads to a layer.
    SetHeads(HeadsRecord),
    /// Removes the heads of a layer.
    RemoveHeads {
        /// The layer.
        layer: u32,
    },
    /// Sets which second forms merging gives the complete layer.
    KeepForms(KeptForms),
    /// Sets how commits become layers.
    SetOptions(WriteOptions),
    /// Declares the database a stream.
    SetStream(StreamRecord),
    /// Remembers how an input was read.
    SetReading(ReadingRecord),
    /// Forgets how an input was read.
    RemoveReading,
    /// Sets what the event times of versions are.
    SetEventTimes(EventTimes),
    /// Keeps the message of a version that is removed.
    KeepMessage(KeptMessage),
    /// Drops the kept message of a version.
    DropMessage {
        /// The version.
        version: u64,
    },
}

impl FieldValue for Edit {
    #[cfg(test)]
    fn type_name() -> String {
        "EditKind, then the edit of that kind".to_owned()
    }

    fn put(&self, out: &mut Vec<u8>) {
        let mut put = |kind: EditKind, body: &dyn Fn(&mut Vec<u8>)| {
            kind.put(out);
            body(out);
        };
        match self {
            Self::AddLayer(record) => put(EditKind::AddLayer, &|out| record.put(out)),
            Self::SetIdMap(record) => put(EditKind::SetIdMap, &|out| record.put(out)),
            Self::AddProperty(record) => put(EditKind::AddProperty, &|out| record.put(out)),
            Self::SetProperty(record) => put(EditKind::SetProperty, &|out| record.put(out)),
            Self::AddVersion(record) => put(EditKind::AddVersion, &|out| record.put(out)),
            Self::RemoveLayer { number } => put(EditKind::RemoveLayer, &|out| number.put(out)),
            Self::SetTag(record) => put(EditKind::SetTag, &|out| record.put(out)),
            Self::RemoveTag { name } => put(EditKind::RemoveTag, &|out| name.put(out)),
            Self::RemoveVersion { number } => put(EditKind::RemoveVersion, &|out| number.put(out)),
            Self::SetRetention(retention) => put(EditKind::SetRetention, &|out| retention.put(out)),
            Self::SetTiles(record) => put(EditKind::SetTiles, &|out| record.put(out)),
            Self::RemoveTiles { layer } => put(EditKind::RemoveTiles, &|out| layer.put(out)),
            Self::SetIdSecret(secret) => put(EditKind::SetIdSecret, &|out| secret.put(out)),
            Self::SetLog(mark) => put(EditKind::SetLog, &|out| mark.put(out)),
            Self::SetDuplicates(rule) => put(EditKind::SetDuplicates, &|out| rule.put(out)),
            Self::SetHeads(record) => put(EditKind::SetHeads, &|out| record.put(out)),
            Self::RemoveHeads { layer } => put(EditKind::RemoveHeads, &|out| layer.put(out)),
            Self::KeepForms(kept) => put(EditKind::KeepForms, &|out| kept.put(out)),
            Self::SetOptions(options) => put(EditKind::SetOptions, &|out| options.put(out)),
            Self::SetStream(stream) => put(EditKind::SetStream, &|out| stream.put(out)),
            Self::SetReading(reading) => put(EditKind::SetReading, &|out| reading.put(out)),
            Self::RemoveReading => put(EditKind::RemoveReading, &|_| {}),
            Self::SetEventTimes(times) => put(EditKind::SetEventTimes, &|out| times.put(out)),
            Self::KeepMessage(kept) => put(EditKind::KeepMessage, &|out| kept.put(out)),
            Self::DropMessage { version } => put(EditKind::DropMessage, &|out| version.put(out)),
        }
    }

    fn take(input: &mut FieldInput<'_>) -> Result<Self> {
        Ok(match EditKind::take(input)? {
            EditKind::AddLayer => Self::AddLayer(FieldValue::take(input)?),
            EditKind::SetIdMap => Self::SetIdMap(FieldValue::take(input)?),
            EditKind::AddProperty => Self::AddProperty(FieldValue::take(input)?),
            EditKind::SetProperty => Self::SetProperty(FieldValue::take(input)?),
            EditKind::AddVersion => Self::AddVersion(FieldValue::take(input)?),
            EditKind::RemoveLayer => Self::RemoveLayer { number: FieldValue::take(input)? },
            EditKind::SetTag => Self::SetTag(FieldValue::take(input)?),
            EditKind::RemoveTag => Self::RemoveTag { name: FieldValue::take(input)? },
            EditKind::RemoveVersion => Self::RemoveVersion { number: FieldValue::take(input)? },
            EditKind::SetRetention => Self::SetRetention(FieldValue::take(input)?),
            EditKind::SetTiles => Self::SetTiles(FieldValue::take(input)?),
            EditKind::RemoveTiles => Self::RemoveTiles { layer: FieldValue::take(input)? },
            EditKind::SetIdSecret => Self::SetIdSecret(FieldValue::take(input)?),
            EditKind::SetLog => Self::SetLog(FieldValue::take(input)?),
            EditKind::SetDuplicates => Self::SetDuplicates(FieldValue::take(input)?),
            EditKind::SetHeads => Self::SetHeads(FieldValue::take(input)?),
            EditKind::RemoveHeads => Self::RemoveHeads { layer: FieldValue::take(input)? },
            EditKind::KeepForms => Self::KeepForms(FieldValue::take(input)?),
            EditKind::SetOptions => Self::SetOptions(FieldValue::take(input)?),
            EditKind::SetStream => Self::SetStream(FieldValue::take(input)?),
            EditKind::SetReading => Self::SetReading(FieldValue::take(input)?),
            EditKind::RemoveReading => Self::RemoveReading,
            EditKind::SetEventTimes => Self::SetEventTimes(FieldValue::take(input)?),
            EditKind::KeepMessage => Self::KeepMessage(FieldValue::take(input)?),
            EditKind::DropMessage => Self::DropMessage { version: FieldValue::take(input)? },
        })
    }
}
