//! `esker compact`: merges all layers.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use esker::change::expire_as_declared;
use esker::graph::Run;
use esker::store::Database;
use esker::store::database::{CompactOptions, CompactReport, FormReport, Renumber, Tiling};
use esker::store::format::Encoding;
use esker::store::headed::StoredHeads;
use esker::store::tiles::TileReport;
use serde_json::json;

use crate::args::encoding::{OnlyArgs, StoredEncoding};
use crate::args::heads::{HeadsArgs, describe as describe_heads};
use crate::args::resources::ResourceArgs;
use crate::args::size::{bytes, counted, seconds};
use crate::args::tiling::describe;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::language::said;
use crate::show::progress::Bar;
use crate::show::text;

/// Merge all layers and reclaim space
///
/// Merges all commits and layers into one layer. Every version stays readable, and the newest is read at full
/// speed. The space of forgotten versions is freed. Where the database keeps an age from which edges are
/// removed (`esker options --expire`), a new version without them comes first. Other processes can read the
/// database meanwhile. A database with tiles or heads keeps them, and one with tiles instead of lists stays
/// so until `--encoding plain` or `compressed`; parts of the tiles in which no edge changed are shared with
/// the old layer, or copied. Vertices that are removed in every version are left out for good, with their
/// properties, if they are more than one of eight.
#[derive(Debug, Args)]
pub(crate) struct CompactCommand {
    /// The database
    database: PathBuf,
    /// Encoding of the merged layer; `plain` and `compressed` remove tiles [default: unchanged]
    #[arg(long, value_enum)]
    encoding: Option<StoredEncoding>,
    #[command(flatten)]
    only: OnlyArgs,
    #[command(flatten)]
    heads: HeadsArgs,
    /// Whether to leave out vertices that are removed in every version: `auto` does so if they are more than
    /// one of eight and the memory is enough. The others get new numbers; their ids stay
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    renumber: RenumberChoice,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// When vertices get new numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum RenumberChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// What was done.
struct Compacted {
    report: CompactReport,
    /// The bytes of the stored heads, or why they cannot be opened.
    head_bytes: Result<Option<u64>, String>,
    /// Edges that were removed because they were too old.
    expired: u64,
}

impl CompactCommand {
    fn compact(&self, database: &Database, run: &Run) -> Result<Compacted, Failure> {
        let expired = expire_as_declared(database, run)?.map_or(0, |report| report.edges);
        let report = database.compact_with(self.options(), run)?;
        // Heads that were not asked for may be damaged. What was done is done all the same.
        let head_bytes = match database.latest()?.stored_heads() {
            Ok(heads) => Ok(heads.map(StoredHeads::file_bytes)),
            Err(problem) => Err(said(&problem.message())),
        };
        Ok(Compacted { report, head_bytes, expired })
    }

    fn options(&self) -> CompactOptions {
        let tiles = match self.encoding {
            None => Tiling::Keep,
            Some(StoredEncoding::Tiles) => Tiling::Make,
            Some(StoredEncoding::Plain | StoredEncoding::Compressed) => Tiling::Remove,
        };
        let renumber = match self.renumber {
            RenumberChoice::Auto => Renumber::Auto,
            RenumberChoice::Always => Renumber::Always,
            RenumberChoice::Never => Renumber::Never,
        };
        let lists = match self.only.is_set() {
            true => Some(Encoding::Tiles),
            false => self.encoding.and_then(StoredEncoding::of_lists),
        };
        CompactOptions { lists, tiles, heads: self.heads.options(&self.resources), renumber }
    }

    pub(crate) fn carry_out(&self) -> Outcome {
        self.only.check(self.encoding, self.heads.are_wanted())?;
        let begin = Instant::now();
        let cancel = cancel_on_signals()?;
        let bar = Bar::spinner(false);
        let run = self.resources.run(&cancel, 0, false, Some(bar.on_round("compact")))?;
        let options = self.resources.of_database(&run);
        let database = Database::open_under(&self.database, options, &run)?;
        let report = self.compact(&database, &run);
        bar.finish();
        let report = report?;
        let closed = database.close().map_err(Failure::from);
        let taken = begin.elapsed().as_secs_f64();
        let reported = closed.and_then(|()| self.report(&report, taken));
        reported.map_err(|failure| failure.after("merged all layers"))
    }

    fn report(&self, compacted: &Compacted, taken: f64) -> Outcome {
        let Compacted { ref report, ref head_bytes, expired } = *compacted;
        let FormReport { ref tiles, heads, heads_left_out, .. } = report.forms;
        let tiles = tiles.as_ref();
        if self.json {
            return text::json(&json!({
                "database": self.database.display().to_string(),
                "layers_before": report.layers_before,
                "layers": report.layers,
                "bytes_before": report.bytes_before,
                "bytes": report.bytes,
                "bytes_written": report.written.all(),
                "bytes_written_tiles": report.written.tiles,
                "bytes_written_heads": report.written.heads,
                "tile_bytes": tiles.map(|tiles| tiles.data_bytes),
                "tile_bytes_copied": tiles.map(|tiles| tiles.copied_bytes),
                "tile_groups_copied": tiles.map(|tiles| tiles.groups_copied),
                "tile_bytes_shared": tiles.map(|tiles| tiles.shared_bytes),
                "tile_groups_shared": tiles.map(|tiles| tiles.groups_shared),
                "tile_bytes_rebuilt": tiles.map(esker::store::tiles::TileReport::rebuilt_bytes),
                "tile_groups_rebuilt": tiles.map(|tiles| tiles.groups_rebuilt),
                "head_length": heads.map(|heads| heads.length),
                "head_bytes": head_bytes.as_ref().ok(),
                "heads_problem": head_bytes.as_ref().err(),
                "expired": expired,
                "vertices_left_out": report.vertices_left_out,
                "heads_left_out": heads_left_out.map(|reason| reason.to_string()),
                "seconds": taken,
            }));
        }
        let path = self.database.display();
        let before = format!(
            "{} ({})",
            counted(report.layers_before as u64, "layer", "layers"),
            bytes(report.bytes_before)
        );
        text::line(&match report.written.all() {
            0 if report.bytes == report.bytes_before => {
                format!("{path}: nothing to merge or write: {before}")
            }
            written => {
                let after =
                    format!("{} ({}, {} written)", report.layers, bytes(report.bytes), bytes(written));
                format!("{path}: merged {before} into {after}")
            }
        })?;
        if expired > 0 {
            text::line(&format!("expired: {}", counted(expired, "edge", "edges")))?;
        }
        if report.vertices_left_out > 0 {
            let left_out = counted(report.vertices_left_out, "removed vertex", "removed vertices");
            text::line(&format!("vertices: {left_out} left out, the others renumbered"))?;
        }
        if let Some(tiles) = tiles {
            text::line(&format!("tiles: {}; {}", describe(tiles), work(tiles)))?;
        }
        if let Some(heads) = heads {
            text::line(&format!("heads: {}", describe_heads(&heads)))?;
        }
        if let Some(reason) = heads_left_out {
            text::line(&format!("heads: {reason}"))?;
        }
        if let Err(problem) = head_bytes {
            text::line(&format!("heads: {problem}"))?;
        }
        text::remark(&format!("Finished in {}", seconds(taken)));
        Ok(())
    }
}

/// `9 groups copied (12 MiB), 120 shared (500 MiB), 1 rebuilt (4 MiB)`.
fn work(tiles: &TileReport) -> String {
    format!(
        "{} copied ({}), {} shared ({}), {} rebuilt ({})",
        counted(tiles.groups_copied - tiles.groups_shared, "group", "groups"),
        bytes(tiles.copied_bytes),
        tiles.groups_shared,
        bytes(tiles.shared_bytes),
        tiles.groups_rebuilt,
        bytes(tiles.rebuilt_bytes())
    )
}
