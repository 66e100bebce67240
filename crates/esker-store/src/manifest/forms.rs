//! The records of the manifest for the second forms of lists: tiles and heads.

use std::collections::BTreeMap;

use esker_format::{
    CHOSEN_HEAD_LEN_MAX, Edit, Encoding, HeadOrder, HeadsRecord, KeptForms, LayerRecord, TilesRecord,
};

/// Whether a layer that is kept in tiles alone has none.
pub(super) fn lacks_tiles(layer: &LayerRecord, tiles: &[TilesRecord]) -> bool {
    layer.encoding == Encoding::Tiles && tiles.iter().all(|tiles| tiles.layer != layer.number)
}

/// The second forms of all layers, under construction.
#[derive(Default)]
pub(super) struct FormRecords {
    pub(super) tiles: BTreeMap<u32, TilesRecord>,
    pub(super) heads: BTreeMap<u32, HeadsRecord>,
    pub(super) kept: Option<KeptForms>,
}

impl FormRecords {
    pub(super) fn of(tiles: &[TilesRecord], heads: &[HeadsRecord], kept: Option<KeptForms>) -> Self {
        Self {
            tiles: tiles.iter().map(|record| (record.layer, record.clone())).collect(),
            heads: heads.iter().map(|record| (record.layer, *record)).collect(),
            kept,
        }
    }

    /// Forgets those of a layer.
    pub(super) fn remove_layer(&mut self, number: u32) {
        self.tiles.remove(&number);
        self.heads.remove(&number);
    }

    /// Applies an edit of second forms; ignores others.
    pub(super) fn apply(&mut self, edit: &Edit, layers: &BTreeMap<u32, LayerRecord>) -> Result<(), String> {
        let check = |holds: bool, reason: String| if holds { Ok(()) } else { Err(reason) };
        match edit {
            Edit::RemoveTiles { layer } => {
                let were_there = self.tiles.remove(layer).is_some();
                check(were_there, format!("the tiles of layer {layer} are removed but do not exist"))
            }
            Edit::SetTiles(record) => {
                let number = record.layer;
                let fits = layers.get(&number).is_some_and(|layer| layer.complete);
                self.tiles.insert(number, record.clone());
                check(
                    fits,
                    format!("tiles are added to layer {number}, which does not exist or is not complete"),
                )
            }
            Edit::RemoveHeads { layer } => {
                let were_there = self.heads.remove(layer).is_some();
                check(were_there, format!("the heads of layer {layer} are removed but do not exist"))
            }
            Edit::SetHeads(record) => {
                let number = record.layer;
                self.heads.insert(number, *record);
                contradiction(record, layers.get(&number)).map_or(Ok(()), Err)
            }
            Edit::KeepForms(kept) => {
                self.kept = Some(*kept);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Why a layer cannot have these heads.
fn contradiction(heads: &HeadsRecord, layer: Option<&LayerRecord>) -> Option<String> {
    let HeadsRecord { layer: number, head_len, order, .. } = *heads;
    let Some(layer) = layer.filter(|layer| layer.complete) else {
        return Some(format!("heads are added to layer {number}, which does not exist or is not complete"));
    };
    if order != HeadOrder::Degree {
        return None;
    }
    if layer.multigraph {
        return Some(format!("the heads of layer {number}, a multigraph, are chosen by degree"));
    }
    let reason = format!(
        "the heads of layer {number} are {head_len} neighbours chosen by degree, and at most {CHOSEN_HEAD_LEN_MAX} are possible"
    );
    (head_len > CHOSEN_HEAD_LEN_MAX).then_some(reason)
}
