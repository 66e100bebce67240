//! Pictures of a part of a graph.

use std::io::Write;
use std::path::PathBuf;

use esker::algo::drawing::forces::ForceOptions;
use esker::drawing::{Arrangement, Look, Paint, Picture, PictureValues, Scene};
use esker::export::{ExportOptions, OutputFile};
use esker::local::LocalGraph;
use esker::store::Error;
use pyo3::prelude::*;

use crate::failure::{PyOutcome, invalid};
use crate::graph::PyGraph;
use crate::output::answer::PyAnswer;
use crate::output::values::id_object;
use crate::settings::Settings;
use crate::watch::watched_reading;

/// Writes a picture to a file, which gets its name once it is whole.
#[pyfunction]
pub(crate) fn save_picture(py: Python<'_>, path: PathBuf, svg: &str, replace: bool) -> PyOutcome<()> {
    py.detach(|| {
        let options = ExportOptions { overwrite: replace, ..ExportOptions::default() };
        let mut file = OutputFile::open(&path, &options)?;
        file.write_all(svg.as_bytes()).map_err(|source| Error::Io { action: "write", path, source })?;
        file.finish()?;
        Ok(())
    })
}

/// What is drawn, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DrawSettings {
    hops: usize,
    vertices: usize,
    layout: String,
    rounds: usize,
    colour: Option<String>,
    /// In place of a property.
    colour_of: Option<Py<PyAnswer>>,
    size: Option<String>,
    size_of: Option<Py<PyAnswer>>,
    labels: Option<usize>,
    title: String,
}

impl DrawSettings {
    fn arrangement(&self) -> PyOutcome<Arrangement> {
        match self.layout.as_str() {
            "forces" => {
                Ok(Arrangement::Forces(ForceOptions { rounds: self.rounds, ..ForceOptions::default() }))
            }
            "layers" => Ok(Arrangement::Layers),
            other => invalid(format!("layout is forces or layers, not {other:?}")),
        }
    }

    fn look(&self) -> PyOutcome<Look> {
        let paint = match (&self.colour_of, self.colour.as_deref()) {
            (Some(answer), _) => Paint::Values(answer.get().vertex_values("colour")?),
            (None, None) => Paint::Plain,
            (None, Some("communities")) => Paint::Communities,
            (None, Some(name)) => Paint::Values(PictureValues::Property(name.to_owned())),
        };
        let size = match &self.size_of {
            Some(answer) => Some(answer.get().vertex_values("size")?),
            None => self.size.clone().map(PictureValues::Property),
        };
        Ok(Look { paint, size })
    }
}

/// The picture as SVG, the ids and places of its vertices, the number of vertices that could be shown, and
/// its parts.
type Drawn<'py> = (String, Vec<Bound<'py, PyAny>>, Vec<[f64; 2]>, usize, Parts);

/// Whether edges have a direction; the places of the ends and the number of edges from one vertex to another;
/// the colour of each vertex, its size from 0 to 1, and what colours mean.
type Parts = (bool, Vec<(u32, u32, u32)>, Vec<String>, Vec<f64>, Vec<(String, String)>);

/// Draws what is around some vertices, or the vertices with most edges.
#[pyfunction]
pub(crate) fn draw<'py>(
    py: Python<'py>,
    graph: &PyGraph,
    ego: Vec<Bound<'py, PyAny>>,
    how: DrawSettings,
    settings: Settings,
) -> PyOutcome<Drawn<'py>> {
    let view = &graph.view;
    let middle = ego.iter().map(|id| graph.vertex(id)).collect::<PyOutcome<Vec<_>>>()?;
    let (arrangement, look) = (how.arrangement()?, how.look()?);
    let (run, cancel, listener) = settings.run("draw")?;
    let picture = watched_reading(py, &cancel, listener.as_ref(), view.version().path(), || {
        let stored = LocalGraph::from(view.version());
        let mut scene = match middle.is_empty() {
            true => Scene::whole(stored, how.vertices, &run)?,
            false => Scene::around(stored, &middle, how.hops, how.vertices, &run)?,
        };
        if view.is_reversed() {
            scene.edges.iter_mut().for_each(|edge| std::mem::swap(&mut edge.source, &mut edge.target));
        }
        scene.is_directed &= !view.drops_directions();
        let picture = Picture::new(stored, scene, arrangement, &look, &run)?;
        Ok(match how.labels {
            Some(labels) => picture.with_labels(labels),
            None => picture,
        })
    })?;
    let scene = picture.scene();
    let ids = scene.vertices.iter().map(|&v| id_object(py, view.version(), v)).collect::<PyOutcome<_>>()?;
    let places = picture.places().map(|(_, place)| place).collect();
    let edges = scene.edges.iter().map(|edge| (edge.source, edge.target, edge.count)).collect();
    let (colours, sizes) = (picture.colours().to_vec(), picture.sizes().to_vec());
    let parts = (scene.is_directed, edges, colours, sizes, picture.legend().to_vec());
    Ok((picture.svg(&how.title), ids, places, scene.found, parts))
}
