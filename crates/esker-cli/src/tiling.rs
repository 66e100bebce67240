//! Builds tiles for verbs with `--encoding tiles`.

use std::path::Path;

use esker::graph::{Cancel, Run};
use esker::store::Database;
use esker::store::database::{CompactOptions, Tiling};
use esker::store::format::Encoding;
use esker::store::tiles::{ConvertOptions, TileReport};

use crate::encoding::OnlyArgs;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size::{bytes, counted};
use crate::text;

/// Builds the tiles of a database, within the memory limit; lists go if tiles are `only` wanted.
fn make_tiles(
    database: &Database,
    only: OnlyArgs,
    resources: &ResourceArgs,
    run: &Run,
) -> Result<TileReport, Failure> {
    if only.is_set() {
        let (lists, tiles) = (Some(Encoding::Tiles), Tiling::Make);
        let options = CompactOptions { lists, tiles, ..CompactOptions::default() };
        return Ok(database.compact_with(options, run)?.forms.tiles.unwrap_or_default());
    }
    Ok(database.make_tiles(&ConvertOptions::within(resources.memory_bytes()), run)?)
}

/// Builds the tiles of a newly created database. A failure leaves the database without tiles.
pub(crate) fn make_tiles_at(
    path: &Path,
    only: OnlyArgs,
    resources: &ResourceArgs,
    cancel: &Cancel,
) -> Result<TileReport, Failure> {
    let bar = Bar::spinner(false);
    let run = resources.run(cancel, 0, false, Some(bar.on_round("tiles")))?;
    let make = || {
        let database = Database::open(path, resources.of_database(&run))?;
        let report = make_tiles(&database, only, resources, &run)?;
        database.close()?;
        Ok(report)
    };
    let made = make();
    bar.finish();
    made.inspect_err(|_: &Failure| {
        text::remark(&format!(
            "{0} was created without tiles; run `esker compact {0} --encoding tiles` to build them",
            path.display()
        ));
    })
}

/// `tiles: 12 edges, 24 B`.
pub(crate) fn describe(tiles: &TileReport) -> String {
    format!("{}, {}", counted(tiles.num_edges, "edge", "edges"), bytes(tiles.data_bytes))
}
