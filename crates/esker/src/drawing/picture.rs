//! A scene with places and looks.

use esker_algo::drawing::Place;
use esker_algo::drawing::forces::{ForceOptions, forces};
use esker_algo::drawing::layers::layered;
use esker_graph::Run;

use super::look::{Look, Looks};
use super::scene::Scene;
use super::svg::{self, Figure};
use crate::error::Result;
use crate::local::LocalGraph;

/// How vertices are placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrangement {
    /// By forces: what is joined comes near.
    Forces(ForceOptions),
    /// In layers, from the top, along the edges.
    Layers,
}

impl Default for Arrangement {
    fn default() -> Self {
        Self::Forces(ForceOptions::default())
    }
}

/// A picture of a part of a graph.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nann,bob\nbob,cem\ncem,ann\n");
/// # let path = directory.path().join("web.esker");
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::drawing::{Arrangement, Look, Picture, Scene};
/// use esker::graph::Run;
/// use esker::local::LocalGraph;
///
/// let (run, graph) = (Run::with_threads(2)?, LocalGraph::from(&version));
/// let scene = Scene::around(graph, &[version.ids().find("ann")?], 1, 100, &run)?;
/// let picture = Picture::new(graph, scene, Arrangement::default(), &Look::default(), &run)?;
/// assert!(picture.svg("Ann and her neighbours").starts_with("<svg "));
/// assert_eq!((picture.places().count(), picture.colours().len(), picture.sizes()), (3, 3, &[1.0; 3][..]));
/// assert!(picture.legend().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Picture(Figure);

/// Names that are shown of a picture with more vertices.
const FEW_LABELS: usize = 30;
/// With so many vertices, all names are.
const ALL_LABELS: usize = 60;

impl Picture {
    /// Places a scene.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a property that there is not, or that is no number where sizes need one;
    /// [`esker_graph::Stop::OverBudget`]; cancellation.
    pub fn new(
        graph: LocalGraph<'_>,
        scene: Scene,
        arrangement: Arrangement,
        look: &Look,
        run: &Run,
    ) -> Result<Self> {
        let looks = Looks::of(graph, &scene, look, run)?;
        let (places, bends) = match arrangement {
            Arrangement::Forces(options) => {
                (forces(&scene.drawn(), &options, run)?, vec![Vec::new(); scene.edges.len()])
            }
            Arrangement::Layers => {
                let found = layered(&scene.drawn(), run)?;
                (found.places, found.bends)
            }
        };
        let ids = graph.version().ids();
        let names = scene.vertices.iter().map(|&v| Ok(ids.external_of(v)?.to_string()));
        let names = names.collect::<Result<Vec<_>>>()?;
        let labels = if names.len() <= ALL_LABELS { names.len() } else { FEW_LABELS };
        let Looks { colours, sizes, notes, legend } = looks;
        Ok(Self(Figure { scene, places, bends, colours, sizes, names, notes, legend, labels }))
    }

    /// The same with the names of so many vertices, those of greatest size. Without this, all of up to 60
    /// vertices are named, and 30 of more.
    #[must_use]
    pub fn with_labels(mut self, labels: usize) -> Self {
        self.0.labels = labels;
        self
    }

    /// What is drawn.
    pub fn scene(&self) -> &Scene {
        &self.0.scene
    }

    /// The id of each vertex as text, with its place.
    pub fn places(&self) -> impl Iterator<Item = (&str, Place)> {
        self.0.names.iter().map(String::as_str).zip(self.0.places.iter().copied())
    }

    /// The colour of each vertex, as in `#0072b2`.
    pub fn colours(&self) -> &[String] {
        &self.0.colours
    }

    /// The size of each vertex, from 0 to 1.
    pub fn sizes(&self) -> &[f64] {
        &self.0.sizes
    }

    /// Colours with what they mean; empty if all vertices are alike. Of a scale of numbers, both ends.
    pub fn legend(&self) -> &[(String, String)] {
        &self.0.legend
    }

    /// The picture as SVG, with a title for people who do not see it. Ids and values are text in it, never
    /// markup.
    pub fn svg(&self, title: &str) -> String {
        svg::written(&self.0, title)
    }
}
