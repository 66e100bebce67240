//! The steps of an import, one after another.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{ElementType, Error, Result};
use esker_graph::{Direction, VertexId};
use esker_layers::ids::IdHasher;
use esker_layers::layer::PlainWriter;

use crate::build::buffers::ColumnBuffers;
use crate::build::built::{Built, BuiltIds, BuiltProperty};
use crate::build::count::{CellDivision, by_cell, degrees, degrees_bytes, to_cells};
use crate::build::direction::{Build, check_symmetric};
use crate::build::edges::{Edges, raw_keys};
use crate::build::gather::{GatheredInput, IdStats, InOrder, WORKER_BYTES, gather};
use crate::build::order::{DEGREE_CLASSES, by_degree, choose, hot_degree, sample};
use crate::build::output::{DirectionOutput, WrittenLists};
use crate::build::prepared::{Prepared, expect_kinds, prepare, run_of};
use crate::build::present::PresentIds;
use crate::build::renumbered::Renumbered;
use crate::build::scatter::EdgeArcs;
use crate::build::twice::Twice;
use crate::columns::names::is_time;
use crate::keys::{Numbered, NumberedIds};
use crate::number::Numberer;
use crate::options::{Duplicates, ImportOptions, ImportReport, NumberingOrder, OrderChoice, Tracker};
use crate::read::generated::GENERATOR;
use crate::read::source::{IdKind, Reader, Schema, limit_decoding};
use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// Where temporary files are made.
#[derive(Debug, Clone)]
pub(crate) struct Destination<'a> {
    /// The disk.
    pub(crate) disk: Arc<dyn Disk>,
    /// An existing directory.
    pub(crate) directory: &'a Path,
}

/// Reads everything and writes the base layer, with temporary files in `place`. `hasher` is the hash of the
/// database's ids.
///
/// The memory limit may be any that suffices; [`crate::options::MEMORY_BYTES_MIN`] always suffices to begin.
///
/// # Errors
/// Bad input or options, a full disk, too little memory; cancellation within 100 ms.
pub(crate) fn build_layer(
    reader: Box<dyn Reader>,
    options: &ImportOptions,
    place: Destination<'_>,
    writer: &PlainWriter<'_>,
    hasher: IdHasher,
) -> Result<Built> {
    let Prepared { schema, ref options, kind } = prepare(&*reader, options)?;
    let buffers = ColumnBuffers::new(schema.properties.len(), options.memory_bytes)?;
    let work = Workspace::on(place.disk, Arc::new(run_of(options)?), options.memory_bytes, place.directory);
    let tracker = Tracker::new(options.on_progress.clone());
    let parser = reader.parser();
    let NumberedInput { gathered, base, num_vertices, pairs, map } =
        read_and_number(&work, hasher, reader, &schema, options, &tracker)?;
    let warnings = parser.warnings();
    drop(parser);
    let (gathered, of_vertices) = gathered.split();
    let mut edges = Edges::new(&work, gathered, &schema, options.duplicates, base, num_vertices, pairs)?;
    kind.map_or(Ok(()), |kind| expect_kinds(&schema.properties[kind], &edges, kind))?;
    let directed = options.directed.or(schema.directed).unwrap_or(true);
    let order = order(&work, &mut edges, options.order, directed, &tracker)?;
    let plan = Directions {
        work: &work,
        edges: &edges,
        order: &order,
        schema: &schema,
        kind,
        options,
        writer: &writer.with_buffers(buffers.each_bytes),
        buffers,
        tracker: &tracker,
    };
    let (written, types, loops_dropped) = plan.build(directed)?;
    if let Some(found) = written.first_duplicate.filter(|_| options.duplicates == Duplicates::Refuse) {
        let is_either = (!directed && !schema.both_ends) || schema.stands_for_both(directed);
        let twice = Twice { work: &work, edges: &edges, found, is_either, kind };
        return Err(twice.error(&order.renumbered, map.as_deref())?);
    }

    let (dictionaries, optional) = (std::mem::take(&mut edges.dictionaries), edges.optional());
    let rows = edges.num_edges();
    let (rejected, rejected_sample) = edges.into_rejected();
    let (arcs, loops) = (written.arcs, written.loops);
    let both = |count: u64, loops: u64| if directed { count } else { (count - loops) / 2 + loops };
    let report = ImportReport {
        rows,
        vertices: num_vertices,
        edges: both(arcs, loops),
        arcs,
        directed,
        duplicates: both(written.duplicates, written.duplicate_loops),
        rule: options.duplicates,
        time: schema.properties.iter().find(|name| is_time(name)).cloned(),
        no_time: None,
        integer_ids: schema.ids != IdKind::Text,
        warnings,
        self_loops: loops_dropped,
        rejected,
        rejected_sample,
        order: order.choice,
        tiles: None,
        stages: tracker.finish(),
        reserved_bytes: work.budget.peak_bytes(),
    };
    let properties = BuiltProperty::all(&schema, types, dictionaries, &optional);
    let vertex_rows = of_vertices.in_order(&work, &order.renumbered)?;
    let ids = ids_of(&work, map, order.renumbered, base)?;
    let (in_edges, weight, time) = (directed && options.in_edges, schema.weight, schema.time);
    Ok(Built { report, loops, in_edges, ids, properties, weight, kind, time, vertex_rows, work })
}

/// Edges whose ends are known as numbers.
struct NumberedInput {
    gathered: GatheredInput,
    base: u64,
    num_vertices: u64,
    pairs: Option<Spool<[VertexId; 2]>>,
    map: Option<Box<dyn NumberedIds>>,
}

fn read_and_number(
    work: &Workspace,
    hasher: IdHasher,
    mut reader: Box<dyn Reader>,
    schema: &Schema,
    options: &ImportOptions,
    tracker: &Tracker,
) -> Result<NumberedInput> {
    tracker.stage("read", schema.input_bytes.unwrap_or(0));
    let (limit_bytes, threads) = (work.budget.limit_bytes(), work.run.threads());
    let decoding_bytes = limit_decoding(reader.as_mut(), limit_bytes, threads)?;
    let parsing_bytes = (WORKER_BYTES * threads as u64).min(limit_bytes / 4);
    let parsing = work.budget.reserve("reading", parsing_bytes + decoding_bytes)?;
    let keep_free_bytes = work.budget.limit_bytes() / 2;
    let numberer = match schema.ids {
        IdKind::Text => Some(Numberer::new(work, hasher).of_texts()),
        _ => None,
    };
    let (mut gathered, numberer) = gather(work, reader, options, numberer, keep_free_bytes, tracker)?;
    drop(parsing);
    if let Some(mut numberer) = numberer {
        tracker.stage("number", 0);
        numberer.keep_vertices(!gathered.rows.is_empty());
        return numbered(gathered, numberer.finish()?);
    }
    if let IdKind::Numbered { first, num_vertices } = schema.ids {
        check_numbered(&gathered.ids, first, num_vertices, schema.format)?;
        check_borne_out(num_vertices, gathered.num_edges(), work.budget.limit_bytes(), schema)?;
        gathered.rows.replace_ids(|id| id - first)?;
        return Ok(NumberedInput { gathered, base: first, num_vertices, pairs: None, map: None });
    }
    number_integers(work, hasher, gathered, tracker)
}

/// The ids of vertices that were numbered so.
fn ids_of(
    work: &Workspace,
    map: Option<Box<dyn NumberedIds>>,
    renumbered: Renumbered,
    base: u64,
) -> Result<BuiltIds> {
    Ok(match (map, renumbered) {
        (Some(map), renumbered) => BuiltIds::Mapped { map, renumbered: renumbered.into_spool(work)? },
        (None, Renumbered::No) => BuiltIds::Identity { base },
        (None, renumbered) => match renumbered.into_spool(work)? {
            Some(renumbered) => BuiltIds::Permuted { base, renumbered },
            None => BuiltIds::Identity { base },
        },
    })
}

/// Numbers integer ids in ascending order. What is found does not depend on the memory; the way there does.
fn number_integers(
    work: &Workspace,
    hasher: IdHasher,
    mut gathered: GatheredInput,
    tracker: &Tracker,
) -> Result<NumberedInput> {
    let ids = gathered.ids;
    if ids.is_empty() {
        return Ok(NumberedInput { gathered, base: 0, num_vertices: 0, pairs: None, map: None });
    }
    tracker.stage("number", gathered.num_edges());
    if let Some(present) = PresentIds::find(work, &gathered, tracker)? {
        let num_vertices = present.len();
        let (base, map) = match present.has_gaps() {
            true => (0, Some(present.close_gaps(&mut gathered)?)),
            false => {
                gathered.rows.replace_ids(|id| id - ids.min)?;
                (ids.min, None)
            }
        };
        return Ok(NumberedInput { gathered, base, num_vertices, pairs: None, map });
    }
    let mut numberer = Numberer::new(work, hasher);
    numberer.keep_vertices(!gathered.rows.is_empty());
    let numberer = number_in_order(work, &gathered, numberer, tracker)?;
    let mut numbered = numbered(gathered, numberer.finish()?)?;
    if numbered.num_vertices - 1 == ids.max - ids.min {
        (numbered.base, numbered.map) = (ids.min, None);
    }
    Ok(numbered)
}

fn numbered(mut gathered: GatheredInput, numbered: Numbered) -> Result<NumberedInput> {
    let Numbered { num_vertices, edges, vertices, map } = numbered;
    gathered.rows.number(&vertices)?;
    Ok(NumberedInput { gathered, base: 0, num_vertices, pairs: Some(edges), map: Some(map) })
}

fn check_numbered(ids: &IdStats, first: u64, count: u64, format: &str) -> Result<()> {
    let &IdStats { min, max } = ids;
    if ids.is_empty() || (min >= first && max - first < count) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the input names vertices {min} to {max}, but its {format} header promises {count} from {first} on: mend the header"
    )))
}

/// As many vertices for each edge are believed of a header.
const VERTICES_PER_EDGE: u64 = 64;
/// ... and as many as have this share of the memory limit each: what the database holds of a vertex without
/// edges.
const VERTEX_BYTES: u64 = 16;

/// A header of a few bytes may promise billions of vertices, each of which takes room in the database. It is
/// believed as far as the edges or the bytes of the input bear it out, or as the memory limit allows.
fn check_borne_out(count: u64, edges: u64, limit_bytes: u64, schema: &Schema) -> Result<()> {
    let borne_out = edges.saturating_mul(VERTICES_PER_EDGE).max(schema.input_bytes.unwrap_or(0));
    if count <= borne_out.max(limit_bytes / VERTEX_BYTES) || schema.format == GENERATOR {
        return Ok(());
    }
    let gibibytes = (u128::from(count) * u128::from(VERTEX_BYTES)).div_ceil(1 << 30);
    Err(Error::invalid(format!(
        "the input has only {}, but {count} vertices are stated for it: correct that number; or, if there are so \
         many vertices, allow {gibibytes} GiB of memory",
        esker_graph::counted(edges, "edge", "edges")
    )))
}

/// Hands all integer ids to `numberer`, in order.
fn number_in_order(
    work: &Workspace,
    gathered: &GatheredInput,
    numberer: Numberer,
    tracker: &Tracker,
) -> Result<Numberer> {
    let line = InOrder::new(work, numberer);
    work.run.share(
        gathered.blocks.len(),
        || (),
        |(), block| {
            let len = gathered.blocks[block].len as u64;
            let pushed = raw_keys(gathered, block)
                .and_then(|keys| line.prepare(&keys))
                .and_then(|parted| line.push(block as u64, parted));
            if pushed.is_err() {
                line.give_up();
            }
            tracker.advance(len, 0);
            pushed
        },
    )?;
    Ok(line.into_inner())
}

/// The order of the vertices, and how many arcs each range of them has.
struct Order {
    choice: OrderChoice,
    renumbered: Renumbered,
    cells: CellDivision,
    /// Edges by cell of their source, and of their target; their sum matters for undirected graphs.
    counts: [Vec<u64>; 2],
}

fn order(
    work: &Workspace,
    edges: &mut Edges,
    wanted: NumberingOrder,
    directed: bool,
    tracker: &Tracker,
) -> Result<Order> {
    tracker.stage("order", edges.num_edges());
    let cells = CellDivision::new(edges.num_vertices);
    let n = edges.num_vertices;
    if wanted == NumberingOrder::Keep {
        let counts = by_cell(work, edges, cells, tracker)?;
        let choice = OrderChoice { order: NumberingOrder::Keep, reason: "as asked for".to_owned() };
        return Ok(Order { choice, renumbered: Renumbered::No, cells, counts });
    }
    let needed = degrees_bytes(n, directed) + n * size_of::<VertexId>() as u64;
    let fits = || needed <= work.budget.free_bytes() / 4 * 3;
    if needed <= work.budget.limit_bytes() / 4 * 3 {
        // Edges that are read from the disk twice are less than their ends sorted there.
        edges.make_room(fits)?;
    }
    if !fits() {
        return crate::build::disk_order::order_on_disk(work, edges, wanted, tracker).and_then(
            |(choice, renumbered)| {
                let counts = by_cell(work, edges, cells, tracker)?;
                let renumbered = renumbered.map_or(Renumbered::No, Renumbered::Disk);
                Ok(Order { choice, renumbered, cells, counts })
            },
        );
    }
    let room = work.budget.reserve("ordering the vertices", needed)?;
    let degrees = degrees(work, edges, directed, tracker)?;
    let choice = if wanted == NumberingOrder::Auto {
        let mut classes = vec![0u64; DEGREE_CLASSES];
        (0..n as usize).for_each(|v| classes[(degrees.of(v) as usize).min(DEGREE_CLASSES - 1)] += 1);
        choose(&sample(work, edges)?, n, hot_degree(&classes, n), |v| degrees.of(v as usize))
    } else {
        OrderChoice { order: NumberingOrder::Degree, reason: "as asked for".to_owned() }
    };
    let renumbered = match choice.order {
        NumberingOrder::Degree => Some(by_degree(work, n, |v| degrees.of(v))?),
        _ => None,
    };
    let counts = [&degrees.sources, &degrees.targets].map(|d| to_cells(d, renumbered.as_deref(), cells));
    let renumbered = match renumbered {
        Some(renumbered) => {
            let mut room = room;
            room.shrink_to(n * size_of::<VertexId>() as u64);
            Renumbered::Memory(renumbered, room)
        }
        None => Renumbered::No,
    };
    Ok(Order { choice, renumbered, cells, counts })
}

/// What the directions of a layer are built from.
struct Directions<'a> {
    work: &'a Workspace,
    edges: &'a Edges,
    order: &'a Order,
    schema: &'a Schema,
    /// The property that holds the kinds.
    kind: Option<usize>,
    options: &'a ImportOptions,
    writer: &'a PlainWriter<'a>,
    buffers: ColumnBuffers,
    tracker: &'a Tracker,
}

impl Directions<'_> {
    /// Builds what the options ask for; returns what was written outwards, the types of the properties, and
    /// the number of self-loops dropped.
    fn build(&self, directed: bool) -> Result<(WrittenLists, Vec<ElementType>, u64)> {
        let [sources, targets] = &self.order.counts;
        let both: Vec<u64> = sources.iter().zip(targets).map(|(a, b)| a + b).collect();
        if !directed {
            let arcs = if self.schema.both_ends { EdgeArcs::BothOfHalf } else { EdgeArcs::Both };
            return self.direction(Direction::Out, arcs, &both, ["divide", "sort"], true);
        }
        let [(forward, sources), (backward, targets)] = match self.schema.stands_for_both(true) {
            true => [(EdgeArcs::Both, &both); 2],
            false => [(EdgeArcs::Forward, sources), (EdgeArcs::Backward, targets)],
        };
        let out = self.direction(
            Direction::Out,
            forward,
            sources,
            ["divide out-edges", "sort out-edges"],
            !self.options.in_edges,
        )?;
        if self.options.in_edges {
            self.direction(Direction::In, backward, targets, ["divide in-edges", "sort in-edges"], true)?;
        }
        Ok(out)
    }

    fn direction(
        &self,
        direction: Direction,
        arcs: EdgeArcs,
        counts: &[u64],
        stages: [&'static str; 2],
        is_last: bool,
    ) -> Result<(WrittenLists, Vec<ElementType>, u64)> {
        let duplicates = self.options.duplicates;
        let summed = self.schema.weight.filter(|_| duplicates == Duplicates::Sum);
        let weight = self.schema.weight.filter(|_| duplicates.needs_weight());
        let edges = self.edges;
        let _buffers = self.work.budget.reserve("the buffers of the columns", self.buffers.all_bytes())?;
        let output = DirectionOutput::new(
            self.work,
            self.writer,
            direction,
            edges.num_vertices,
            self.options.encoding,
            &edges.layouts,
            summed,
        )?;
        let build = Build {
            work: self.work,
            edges,
            arcs,
            counts,
            cells: self.order.cells,
            self_loops: self.options.self_loops,
            renumbered: match &self.order.renumbered {
                Renumbered::Memory(renumbered, _) => Some(renumbered),
                _ => None,
            },
            tracker: self.tracker,
            duplicates,
            weight,
            kind: self.kind,
            // To name an edge that is refused, all are read once more.
            is_last: is_last && duplicates != Duplicates::Refuse,
        };
        let (output, scattered) = build.run(stages, output)?;
        check_symmetric(scattered, self.schema.format)?;
        let (written, types) = output.finish(self.work, self.schema)?;
        Ok((written, types, scattered.loops_dropped))
    }
}
