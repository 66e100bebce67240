//! `esker draw`: a picture of a part of a graph.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use esker::algo::drawing::forces::ForceOptions;
use esker::drawing::{Arrangement, Look, Paint, Picture, PictureValues, Scene};
use esker::export::{ExportOptions, OutputFile};
use esker::graph::Cancel;
use esker::local::LocalGraph;

use crate::args::at::AtArgs;
use crate::args::mistake::expect_distinct;
use crate::args::resources::ResourceArgs;
use crate::args::selecting::WhereArgs;
use crate::args::size::counted;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_store;
use crate::show::progress::Bar;
use crate::show::shown::STANDARD_OUTPUT;
use crate::show::text;

/// Draw vertices and their edges as an SVG picture
///
/// Shows the vertices around those of --ego, or those of the graph that have most edges. Large vertices have
/// many edges, wide lines are several edges, and a pointer that rests on a vertex shows its id and
/// properties. Browsers, notebooks and text documents show SVG; the picture follows the light or dark colours
/// of the reader.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  esker draw web.esker -o web.svg
  esker draw web.esker --ego alice --hops 2 -o alice.svg
  esker draw web.esker --colour communities --vertices 1000 -o communities.svg
  esker draw web.esker --ego alice --layout layers -o tree.svg")]
pub(crate) struct DrawCommand {
    /// The database
    database: PathBuf,
    /// The file, .svg or .svg.gz; `-` is standard output [default: standard output, if it is no terminal]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that stands there
    #[arg(long)]
    force: bool,
    /// Draw what is around this vertex; may be given several times
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    ego: Vec<String>,
    /// Greatest number of steps from the vertices of --ego, along and against edges
    #[arg(long, value_name = "N", default_value_t = 1, requires = "ego")]
    hops: usize,
    /// Greatest number of vertices, those near first, of the others those with most edges
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = at_least_one)]
    vertices: usize,
    /// How vertices are placed
    #[arg(long, value_enum, value_name = "LAYOUT", default_value = "forces")]
    layout: LayoutArg,
    /// Rounds of --layout forces; more take longer and untangle more [default: 300]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// What colours stand for: `communities` of what is drawn, or a vertex property [alias: --color]
    #[arg(long, alias = "color", value_name = "WHAT")]
    colour: Option<String>,
    /// Vertex property that is the size of vertices, a number [default: the number of edges]
    #[arg(long, value_name = "PROPERTY")]
    size: Option<String>,
    /// Show the ids of the N largest vertices [default: all of up to 60 vertices, 30 of more]
    #[arg(long, value_name = "N")]
    labels: Option<usize>,
    /// Title, for people who do not see the picture [default: the name of the database]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Also write the places of the vertices, as CSV with the columns vertex, x and y
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Seed of the first places of --layout forces [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    part: WhereArgs,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// `--layout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayoutArg {
    /// What is joined comes near: for networks (ForceAtlas2)
    Forces,
    /// From the top along the edges: for dependencies, citations, family trees
    Layers,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a picture has at least one vertex".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}

impl DrawCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        let output = self.output()?;
        if self.layout == LayoutArg::Layers {
            let given = [("--rounds", self.rounds.is_some()), ("--seed", self.seed.is_some())];
            if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
                let message =
                    format!("{option} has no effect: --layout layers has no rounds and nothing random");
                return Err(Failure::Usage(message));
            }
        }
        expect_distinct(&[("--output", Some(&output)), ("--positions", self.positions.as_deref())])?;
        let cancel = cancel_on_signals()?;
        let run = self.resources.run(&cancel, self.seed.unwrap_or(1), true, None)?;
        // Names that are taken are refused before the work.
        let drawn = self.open(&output, &cancel)?;
        let positions = self.positions.as_ref().map(|path| self.open(path, &cancel)).transpose()?;
        let (store, bar) = open_store(&self.database, &self.resources, &cancel)?;
        let version = self.at.version(&store);
        bar.finish();
        let version = version?;
        let conditions = self.part.on(&version, &run)?;
        let graph = LocalGraph::new(&version, conditions.as_deref());
        let middle =
            self.ego.iter().map(|id| version.find_vertex(id, &run)).collect::<Result<Vec<_>, _>>()?;
        let scene = match middle.is_empty() {
            true => Scene::whole(graph, self.vertices, &run)?,
            false => Scene::around(graph, &middle, self.hops, self.vertices, &run)?,
        };
        let (shown, found, edges) = (scene.vertices.len(), scene.found, scene.edges.len());
        let at_least = if scene.is_cut_short { "at least " } else { "" };
        let bar = Bar::spinner(false);
        bar.set("draw", 0.0, String::new());
        let picture = Picture::new(graph, scene, self.arrangement(), &self.look(), &run);
        bar.finish();
        let mut picture = picture?;
        if let Some(labels) = self.labels {
            picture = picture.with_labels(labels);
        }
        let name = self.database.file_stem().unwrap_or_default().to_string_lossy();
        let svg = picture.svg(self.title.as_deref().unwrap_or(&name));
        write(drawn, &svg)?;
        if let Some(positions) = positions {
            let mut rows = csv_row(["vertex", "x", "y"].map(str::to_owned));
            for (id, [x, y]) in picture.places() {
                rows += &csv_row([id.to_owned(), format!("{x:.3}"), format!("{y:.3}")]);
            }
            write(positions, &rows)?;
        }
        let (vertices, edges) =
            (counted(shown as u64, "vertex", "vertices"), counted(edges as u64, "line", "lines"));
        text::remark(&match shown < found {
            true => format!("{shown} of {at_least}{found} vertices, {edges}: --vertices N shows more"),
            false => format!("{vertices}, {edges}"),
        });
        Ok(())
    }

    /// Where the picture goes.
    fn output(&self) -> Result<PathBuf, Failure> {
        let Some(path) = &self.output else {
            return match std::io::stdout().is_terminal() {
                true => Err(Failure::Usage(
                    "a picture is no text to read: name a file with -o FILE.svg".to_owned(),
                )),
                false => Ok(PathBuf::from(STANDARD_OUTPUT)),
            };
        };
        let name = path.to_string_lossy().to_lowercase();
        let is_svg = [".svg", ".svg.gz", ".svg.zst"].iter().any(|end| name.ends_with(end));
        match is_svg || path == Path::new(STANDARD_OUTPUT) {
            true => Ok(path.clone()),
            false => Err(Failure::Usage(format!(
                "{} does not end in .svg, the only form of pictures; browsers print it as PDF or PNG",
                path.display()
            ))),
        }
    }

    fn arrangement(&self) -> Arrangement {
        match self.layout {
            LayoutArg::Forces => Arrangement::Forces(ForceOptions {
                rounds: self.rounds.unwrap_or(ForceOptions::default().rounds),
                ..ForceOptions::default()
            }),
            LayoutArg::Layers => Arrangement::Layers,
        }
    }

    fn look(&self) -> Look {
        let paint = match self.colour.as_deref() {
            None => Paint::Plain,
            Some("communities") => Paint::Communities,
            Some(name) => Paint::Values(PictureValues::Property(name.to_owned())),
        };
        Look { paint, size: self.size.clone().map(PictureValues::Property) }
    }

    fn open(&self, path: &Path, cancel: &Cancel) -> Result<OutputFile, Failure> {
        let options =
            ExportOptions { overwrite: self.force, cancel: cancel.clone(), ..ExportOptions::default() };
        Ok(OutputFile::open(path, &options)?)
    }
}

fn write(mut file: OutputFile, text: &str) -> Outcome {
    let failed = file.error();
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.finish()?;
    Ok(())
}

/// A row of CSV; a field with a comma, a quote or a line break is in quotes.
fn csv_row(fields: [String; 3]) -> String {
    let field = |field: String| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    };
    fields.map(field).join(",") + "\n"
}
