//! What a format cannot keep of a graph.

use std::fmt;

use esker_format::{Result, value::decimal};
use esker_graph::{Assignment, Message, Operation, Setting, message, vertex};

use crate::columns::missing::says_missing;
use crate::read::format::{Format, ReadOptions};
use crate::read::typed;
use crate::sniff;
use crate::text::shape::{LIST, SAMPLE_LINES, TableShape, shape};
use crate::write::{
    EdgeStream, ExportGraph, ExportOptions, Guessed, ListExport, PropertyInfo, PropertyKind, VertexNames,
    WriteIds,
};

/// Vertices whose ids are looked at.
const SAMPLE_IDS: u64 = 1000;
/// Edges that are looked at, as many as a reader compares with what may be a header, and bytes of them.
const SAMPLE_EDGES: usize = 1000;
const SAMPLE_BYTES: usize = 1 << 20;

/// What an export left out, or what a reader of its file takes for something else, though nothing asked for
/// that. `Display` says it in a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// Edge properties for which the format has no place.
    EdgeProperties(Format, Vec<String>),
    /// Properties of vertices.
    VertexProperties(Vec<String>),
    /// Types of properties of vertices that a CSV of them does not tell, as `NAME:TYPE`.
    VertexTypes(Vec<String>),
    /// That the graph is undirected.
    Undirected(Format),
    /// That the graph is directed.
    Directed(Format),
    /// The format needs weights, which the graph does not have.
    Weights(Format),
    /// The ids: the format has numbers from this one on instead.
    Ids(Format, u64),
    /// That ids are texts: they look like integers.
    TextIds(Format),
    /// That these edge properties are texts: they look like something else.
    TextValues(Format, Vec<String>),
    /// That these edge properties are integers from 0 to 2^64 - 1: a reader takes them for smaller ones, or
    /// for texts.
    Unsigned(Format, Vec<String>),
    /// The time zones of these edge properties.
    Zones(Format, Vec<String>),
    /// This number of vertices, which have no edges.
    Vertices(Format, u64),
    /// That edges between the same two vertices are kept apart.
    Parallel(Format),
    /// That this edge property is the kind, by which edges between the same two vertices are kept apart.
    Kinds(Format, String),
    /// That each edge stands at both of its ends: a reader takes the two for parallel edges.
    BothEnds(Format),
    /// The first edge: a reader takes its ends for names of columns.
    FirstEdge(Format),
    /// What separates the ids: a reader takes the characters in them for it, and the file for a CSV.
    Separator(Format),
}

impl Loss {
    /// The loss and how to keep it, in a clause.
    pub fn sentence(&self) -> Message {
        message![self.to_string(), self.remedy()]
    }

    /// How to keep what is lost.
    fn remedy(&self) -> Message {
        let import = |setting: Assignment| message![": import it with ", setting];
        match self {
            Self::EdgeProperties(..) | Self::Weights(_) => Message::default(),
            Self::VertexTypes(types) => {
                let schema = Setting::Schema.to(format!("'{}'", types.join(",")));
                message![": ", Operation::Set, " with ", schema, " sets them"]
            }
            Self::VertexProperties(_) => {
                let file = Setting::VertexProperties.to_some("FILE");
                message!["; ", file, " writes a CSV for ", Operation::Set]
            }
            Self::Undirected(_) => import(Setting::Directed.to(false)),
            Self::Directed(_) => import(Setting::Directed.to(true)),
            Self::Ids(..) => {
                message![": ", Setting::Vertices.to_some("FILE"), " writes the id of each, in order"]
            }
            Self::TextIds(_) => import(Setting::Ids.to("text")),
            Self::TextValues(..) => import(Setting::Schema.to_some("NAME:text")),
            Self::Unsigned(..) => import(Setting::Schema.to_some("NAME:u64")),
            Self::Zones(..) => "; Parquet and Arrow have them".into(),
            Self::Vertices(..) => message![": write their ids with ", Setting::Vertices.to_some("FILE")],
            Self::Parallel(_) => import(Setting::Duplicates.to("keep")),
            Self::Kinds(_, kind) => import(Setting::Kind.to_name(kind)),
            Self::BothEnds(_) => import(Setting::BothEnds.to(true)),
            Self::FirstEdge(_) => import(Setting::Header.to(false)),
            Self::Separator(_) => import(Setting::Format.to("snap")),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EdgeProperties(format, names) => {
                let title = format.title();
                let names = names.join(", ");
                write!(
                    f,
                    "edge properties not written, as {title} has no place for them: {names}; CSV, Parquet and Arrow have"
                )
            }
            Self::VertexProperties(names) => write!(f, "vertex properties not written: {}", names.join(", ")),
            Self::VertexTypes(_) => f.write_str("the CSV of vertex properties does not tell all types"),
            Self::Undirected(format) => unsaid(f, *format, "the graph is undirected"),
            Self::Directed(format) => unsaid(f, *format, "the graph is directed"),
            Self::Weights(format) => {
                write!(f, "{} has a weight for each edge: all are 1, as the graph has none", format.title())
            }
            Self::Ids(format, first) => {
                write!(f, "{} has numbers instead of ids, from {first} on", format.title())
            }
            Self::TextIds(format) => unsaid(f, *format, "the ids are texts"),
            Self::TextValues(format, names) => {
                write!(
                    f,
                    "nothing in {} says that these edge properties are texts: {}",
                    format.title(),
                    names.join(", ")
                )
            }
            Self::Unsigned(format, names) => {
                write!(
                    f,
                    "nothing in {} says that these edge properties are u64: {}",
                    format.title(),
                    names.join(", ")
                )
            }
            Self::Zones(format, names) => {
                write!(
                    f,
                    "{} has no names of time zones, so times have offsets: {}",
                    format.title(),
                    names.join(", ")
                )
            }
            Self::Vertices(format, vertices) => {
                let vertices = esker_graph::counted(*vertices, "vertex", "vertices");
                write!(f, "{vertices} without edges not written, as {} lists edges only", format.title())
            }
            Self::Parallel(format) => unsaid(f, *format, "the graph keeps parallel edges"),
            Self::Kinds(format, kind) => unsaid(f, *format, &format!("{kind:?} is the kind of edges")),
            Self::BothEnds(format) => unsaid(f, *format, "each edge stands at both of its ends"),
            Self::FirstEdge(format) => unsaid(f, *format, "the first line is an edge, not a header"),
            Self::Separator(format) => unsaid(f, *format, "characters of the ids do not separate columns"),
        }
    }
}

/// Writes what a file of a format does not say.
fn unsaid(f: &mut fmt::Formatter<'_>, format: Format, what: &str) -> fmt::Result {
    write!(f, "nothing in {} says that {what}", format.title())
}

/// What an export loses that was not asked to be left out, but for [`Loss::Vertices`].
///
/// # Errors
/// If ids or texts cannot be read.
pub(super) fn of(graph: &dyn ExportGraph, format: Format, options: &ExportOptions) -> Result<Vec<Loss>> {
    let written = format.export();
    let mut losses = Vec::new();
    if options.properties {
        losses.extend(of_properties(graph, format)?);
    }
    let both_ends = !graph.is_directed() && written.hides_both_ends(options);
    match (graph.is_directed(), written.read_as.directed(both_ends)) {
        (false, Some(true)) => losses.push(Loss::Undirected(format)),
        (true, Some(false)) => losses.push(Loss::Directed(format)),
        _ => {}
    }
    if graph.is_multigraph() {
        let is_left_out = |kind: &String| {
            !options.properties
                || losses
                    .iter()
                    .any(|loss| matches!(loss, Loss::EdgeProperties(_, names) if names.contains(kind)))
        };
        let kind = graph.kind().map(str::to_owned).filter(|kind| !is_left_out(kind));
        losses.push(kind.map_or(Loss::Parallel(format), |kind| Loss::Kinds(format, kind)));
        if both_ends {
            losses.push(Loss::BothEnds(format));
        }
    }
    if options.ids == WriteIds::External {
        let first = written.first_number.filter(|_| options.vertices.is_none());
        if let Some(first) = first
            && graph.least_id() != Some(first)
        {
            losses.push(Loss::Ids(format, first));
        }
        if written.guessed >= Guessed::Types && graph.has_text_ids() && look_like_integers(graph)? {
            losses.push(Loss::TextIds(format));
        }
        losses.extend(of_first_lines(graph, format, options)?);
    }
    Ok(losses)
}

fn of_properties(graph: &dyn ExportGraph, format: Format) -> Result<Vec<Loss>> {
    let written = format.export();
    let mut losses = Vec::new();
    let (mut lost, mut texts, mut unsigned, mut zones) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (index, property) in graph.properties().iter().enumerate() {
        let name = || property.name.clone();
        if !written.keeps.has(index, property, graph.weight()) {
            lost.push(name());
            continue;
        }
        if written.guessed < Guessed::Types {
            continue;
        }
        if has_zone(property) {
            zones.push(name());
        }
        if property.kind == PropertyKind::Text && look_like_others(graph, index)? {
            texts.push(name());
        }
        if property.kind == PropertyKind::U64 {
            unsigned.push(name());
        }
    }
    if !lost.is_empty() {
        losses.push(Loss::EdgeProperties(format, lost));
    }
    let of_vertices = graph.vertex_records();
    if !of_vertices.is_empty() && !written.keeps_vertex_properties {
        losses.push(Loss::VertexProperties(of_vertices.into_iter().map(|property| property.name).collect()));
    }
    if !texts.is_empty() {
        losses.push(Loss::TextValues(format, texts));
    }
    if !unsigned.is_empty() {
        losses.push(Loss::Unsigned(format, unsigned));
    }
    if !zones.is_empty() {
        losses.push(Loss::Zones(format, zones));
    }
    if written.invents_weights && graph.weight().is_none() {
        losses.push(Loss::Weights(format));
    }
    Ok(losses)
}

fn has_zone(property: &PropertyInfo) -> bool {
    match &property.logical {
        esker_format::LogicalType::Timestamp { zone, .. } => !matches!(zone.as_str(), "" | "UTC"),
        _ => false,
    }
}

/// Whether a reader takes the ids, which are texts, for integers, by a sample of them.
fn look_like_integers(graph: &dyn ExportGraph) -> Result<bool> {
    let sample = graph.num_vertices().min(SAMPLE_IDS);
    let ids = (0..sample).map(|v| {
        let mut id = Vec::new();
        graph.write_id(vertex(v as usize), &mut id).map(|()| id)
    });
    let ids = ids.collect::<Result<Vec<_>>>()?;
    Ok(sample > 0 && !decimal::are_text_ids(ids.iter().map(Vec::as_slice)))
}

/// What a reader takes the first lines of a list of edges for, if not for what they are. Numbers are no names
/// of columns and hold no separators, and tables have a header.
fn of_first_lines(graph: &dyn ExportGraph, format: Format, options: &ExportOptions) -> Result<Vec<Loss>> {
    if format.export().guessed < Guessed::TypesAndHeader || !graph.has_text_ids() {
        return Ok(Vec::new());
    }
    let Some(block) = ListExport::sample(graph, format.export().lists_both_ends(options)).next()? else {
        return Ok(Vec::new());
    };
    let (names, mut lines) = (VertexNames::new(Some(graph), options.ids), Vec::new());
    for row in 0..block.len().min(SAMPLE_EDGES) {
        if lines.len() > SAMPLE_BYTES {
            break;
        }
        names.write(block.sources[row], &mut lines)?;
        lines.push(b'\t');
        names.write(block.targets[row], &mut lines)?;
        lines.push(b'\n');
    }
    let read = shape(&lines, true, LIST, SAMPLE_LINES, &ReadOptions::default());
    let has_header = matches!(read, Ok(Some(TableShape { header: Some(_), .. })));
    // The name of the file tells the format of the other.
    let is_other = format.input().endings.is_empty() && sniff::sniff("", &lines) != Ok(format);
    let header = has_header.then_some(Loss::FirstEdge(format));
    Ok(header.into_iter().chain(is_other.then_some(Loss::Separator(format))).collect())
}

/// Whether a reader takes the texts of a property for numbers, truth values or times.
fn look_like_others(graph: &dyn ExportGraph, property: usize) -> Result<bool> {
    let texts = graph.dictionary(property)?;
    // Words for no value, which no quotes make texts of where numbers stand.
    let texts = || texts.iter().flatten().filter(|text| !says_missing(text));
    Ok(decimal::are_numbers(texts()) || typed::sniff(texts()).is_some())
}
