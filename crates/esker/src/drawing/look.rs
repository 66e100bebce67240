//! How vertices look: their colours and sizes, and what these mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use esker_algo::algorithm::communities::leiden::{LeidenOptions, leiden};
use esker_graph::{Csr, Run, VertexId};
use esker_store::Version;

use super::scene::{Scene, degree_of};
use crate::answer::{Answer, Value};
use crate::differences::value_json;
use crate::error::{Error, Result};
use crate::local::LocalGraph;

/// Colours that most people who are colour-blind tell apart (M. Okabe, K. Ito, "Color Universal Design",
/// 2008).
pub(super) const COLOURS: [&str; 7] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];
/// For groups beyond the colours, and for vertices without a value.
const GREY: &str = "#999999";
/// Colours of numbers from the least to the greatest; between them colours are mixed.
const SCALE: [[u8; 3]; 5] = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/// The value of a vertex in an answer.
type ValueOf = Arc<dyn Fn(VertexId) -> Result<Value> + Send + Sync>;

/// Values of vertices, which colours or sizes show.
#[derive(Clone)]
pub enum PictureValues {
    /// A vertex property.
    Property(String),
    /// A column of an answer of an algorithm.
    Answer {
        /// Its name.
        name: String,
        /// Whether values are labels of groups.
        is_of_groups: bool,
        /// The value of a vertex.
        value: ValueOf,
    },
}

impl PictureValues {
    /// The principal column of an answer; `None` if it has no rows of vertices.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use esker::answer::{Answer, AnswerColumn, Ranking, Values};
    /// use esker::drawing::PictureValues;
    ///
    /// let values = Values::Float(vec![0.75, 0.25]);
    /// let ranks = AnswerColumn { name: "rank", values, ranking: Ranking::Largest };
    /// let answer = Answer { columns: vec![ranks], ..Answer::default() };
    /// assert!(PictureValues::of(&Arc::new(answer)).is_some());
    /// assert!(PictureValues::of(&Arc::default()).is_none());
    /// ```
    pub fn of(answer: &Arc<Answer>) -> Option<Self> {
        let column = answer.columns.first().filter(|_| answer.has_vertex_rows())?;
        let (name, is_of_groups) = (column.name.to_owned(), column.ranking.is_of_groups());
        let answer = Arc::clone(answer);
        let value = move |v: VertexId| {
            let row = match &answer.vertices {
                None => Some(v as usize),
                Some(vertices) => vertices.binary_search(&v).ok(),
            };
            let values = &answer.columns[0].values;
            Ok(row.filter(|row| *row < values.len()).map_or(Value::Missing, |row| values.get(row)))
        };
        Some(Self::Answer { name, is_of_groups, value: Arc::new(value) })
    }
}

impl std::fmt::Debug for PictureValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Property(name) => f.debug_tuple("Property").field(name).finish(),
            Self::Answer { name, .. } => f.debug_struct("Answer").field("name", name).finish_non_exhaustive(),
        }
    }
}

/// What colours stand for.
#[derive(Debug, Clone, Default)]
pub enum Paint {
    /// All vertices alike.
    #[default]
    Plain,
    /// Communities of what is drawn, by Leiden's method with the default resolution.
    Communities,
    /// Values of vertices: groups of texts, truth values and few numbers, a scale of many numbers.
    Values(PictureValues),
}

/// How vertices look.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// What colours stand for.
    pub paint: Paint,
    /// The numbers that are the sizes; without any, the numbers of edges.
    pub size: Option<PictureValues>,
}

/// The looks of all vertices of a scene.
pub(super) struct Looks {
    pub(super) colours: Vec<String>,
    /// From 0 to 1.
    pub(super) sizes: Vec<f64>,
    /// What each vertex says of itself.
    pub(super) notes: Vec<String>,
    /// Colours with what they mean.
    pub(super) legend: Vec<(String, String)>,
}

impl Looks {
    pub(super) fn of(graph: LocalGraph<'_>, scene: &Scene, look: &Look, run: &Run) -> Result<Self> {
        let version = graph.version();
        let mut degrees = scene.vertices.iter().map(|&v| degree_of(graph, v)).collect::<Result<Vec<_>>>()?;
        // An edge from a vertex to itself leaves it and comes to it, and is one edge.
        for edge in scene.edges.iter().filter(|edge| scene.counts_loops_twice && edge.source == edge.target) {
            degrees[edge.source as usize] -= edge.count as usize;
        }
        let mut notes: Vec<String> = degrees
            .iter()
            .map(|&degree| format!("{degree} {}", if degree == 1 { "edge" } else { "edges" }))
            .collect();
        let sizes = match &look.size {
            None => degrees.iter().map(|&degree| degree as f64).collect(),
            Some(values) => numbers(version, values, scene, &mut notes)?,
        };
        // Numbers of both signs are from the least to the greatest.
        let least = sizes.iter().copied().fold(0.0, f64::min);
        let greatest = sizes.iter().copied().fold(0.0, f64::max) - least;
        let share = |size: &f64| match greatest > 0.0 {
            true if size.is_nan() => 0.0,
            true => (size - least) / greatest,
            false => 0.5,
        };
        let sizes = sizes.iter().map(share).collect();
        let (colours, legend) = match &look.paint {
            Paint::Plain => (vec![COLOURS[0].to_owned(); scene.vertices.len()], Vec::new()),
            Paint::Communities => groups(&communities(version, scene, run)?),
            Paint::Values(values) => of_values(version, values, scene, &mut notes)?,
        };
        Ok(Self { colours, sizes, notes, legend })
    }
}

/// A value as text, and as a number if it is one.
struct ValueText {
    text: String,
    number: Option<f64>,
}

/// The value of each vertex of a scene, which is added to the notes.
fn shown(
    version: &Version,
    values: &PictureValues,
    scene: &Scene,
    notes: &mut [String],
) -> Result<Vec<Option<ValueText>>> {
    let (name, found): (_, Vec<Option<ValueText>>) = match values {
        PictureValues::Property(name) => {
            let property = version.vertex_property(name)?;
            let value = |&v: &VertexId| -> Result<Option<ValueText>> {
                let Some(value) = property.get(v)?.filter(|value| !value.is_missing()) else {
                    return Ok(None);
                };
                let number = value_json(&value).as_f64().filter(|_| value.is_number());
                Ok(Some(ValueText { text: value.to_string(), number }))
            };
            (name, scene.vertices.iter().map(value).collect::<Result<_>>()?)
        }
        PictureValues::Answer { name, is_of_groups, value } => {
            let value = |&v: &VertexId| -> Result<Option<ValueText>> {
                let value = value(v)?;
                let text = value.to_text(version.ids())?;
                let number = value.number().filter(|_| !is_of_groups);
                Ok((value != Value::Missing).then_some(ValueText { text, number }))
            };
            (name, scene.vertices.iter().map(value).collect::<Result<_>>()?)
        }
    };
    for (shown, note) in found.iter().zip(notes) {
        if let Some(ValueText { text, .. }) = shown {
            note.push_str(&format!("\n{name}: {text}"));
        }
    }
    Ok(found)
}

/// Numbers of vertices; a vertex without a value has NaN.
fn numbers(
    version: &Version,
    values: &PictureValues,
    scene: &Scene,
    notes: &mut [String],
) -> Result<Vec<f64>> {
    let number = |shown: Option<ValueText>| match shown {
        None => Ok(f64::NAN),
        Some(ValueText { number: Some(number), .. }) => Ok(number),
        Some(ValueText { text, .. }) => {
            let (PictureValues::Property(name) | PictureValues::Answer { name, .. }) = values;
            Err(Error::usage(format!("a size is a number, and {name:?} has the value {text}")))
        }
    };
    shown(version, values, scene, notes)?.into_iter().map(number).collect()
}

type Painted = (Vec<String>, Vec<(String, String)>);

fn of_values(
    version: &Version,
    values: &PictureValues,
    scene: &Scene,
    notes: &mut [String],
) -> Result<Painted> {
    if let PictureValues::Property(name) = values
        && version.vertex_property(name)?.record().logical.is_vector()
    {
        return Err(Error::usage(format!("{name:?} holds vectors, which have no colour")));
    }
    let found = shown(version, values, scene, notes)?;
    let mut distinct: Vec<&String> = found.iter().flatten().map(|shown| &shown.text).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let all_numbers = found.iter().flatten().all(|shown| shown.number.is_some());
    if all_numbers && distinct.len() > COLOURS.len() {
        return Ok(scale(&found.iter().map(|shown| shown.as_ref()?.number).collect::<Vec<_>>()));
    }
    Ok(groups(&found.into_iter().map(|shown| Some(shown?.text)).collect::<Vec<_>>()))
}

/// Colours of groups, the largest first; those beyond the colours are grey together.
fn groups(names: &[Option<String>]) -> Painted {
    let mut counts = BTreeMap::<&String, usize>::new();
    names.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let colour_of: BTreeMap<&String, &str> =
        sorted.iter().zip(COLOURS).map(|((name, _), colour)| (*name, colour)).collect();
    let colour = |name: &Option<String>| *name.as_ref().and_then(|name| colour_of.get(name)).unwrap_or(&GREY);
    let mut legend: Vec<(String, String)> = sorted
        .iter()
        .zip(COLOURS)
        .map(|((name, count), colour)| (colour.to_owned(), format!("{name} ({count})")))
        .collect();
    let others: usize = sorted.iter().skip(COLOURS.len()).map(|(_, count)| count).sum();
    let without = names.iter().filter(|name| name.is_none()).count();
    for (count, what) in [(others, "in other groups"), (without, "without a value")] {
        if count > 0 {
            legend.push((GREY.to_owned(), format!("{what} ({count})")));
        }
    }
    (names.iter().map(|name| colour(name).to_owned()).collect(), legend)
}

/// Colours of numbers.
fn scale(numbers: &[Option<f64>]) -> Painted {
    let known = || numbers.iter().copied().flatten().filter(|number| number.is_finite());
    let (least, greatest) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let colour = |number: f64| {
        let share = if greatest > least { (number - least) / (greatest - least) } else { 0.0 };
        let place = share.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
        let below = (place as usize).min(SCALE.len() - 2);
        let mixed = [0, 1, 2].map(|part| {
            let (from, to) = (f64::from(SCALE[below][part]), f64::from(SCALE[below + 1][part]));
            (from + (to - from) * (place - below as f64)).round() as u8
        });
        format!("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2])
    };
    let mut legend = vec![(colour(least), least.to_string()), (colour(greatest), greatest.to_string())];
    let without = numbers.iter().filter(|number| number.is_none_or(|number| !number.is_finite())).count();
    if without > 0 {
        legend.push((GREY.to_owned(), format!("without a value ({without})")));
    }
    let of_vertex =
        |number: &Option<f64>| number.filter(|number| number.is_finite()).map_or(GREY.to_owned(), colour);
    (numbers.iter().map(of_vertex).collect(), legend)
}

/// The communities of what is drawn, named by their members of greatest degree.
fn communities(version: &Version, scene: &Scene, run: &Run) -> Result<Vec<Option<String>>> {
    let edges = scene.edges.iter().filter(|edge| edge.source != edge.target);
    let edges: Vec<_> =
        edges.map(|edge| (VertexId::from(edge.source), VertexId::from(edge.target), ())).collect();
    let csr = Csr::undirected(scene.vertices.len(), &edges)?;
    let found = leiden(&csr.graph(), run, &LeidenOptions::default())?;
    let name =
        |&label: &VertexId| Ok(Some(version.ids().external_of(scene.vertices[label as usize])?.to_string()));
    found.labels.iter().map(name).collect()
}
