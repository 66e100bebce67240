//! Pictures of a part of a graph.

use esker::algo::drawing::forces::ForceOptions;
use esker::drawing::{Arrangement, Look, Paint, Picture, Scene};
use esker::local::LocalGraph;
use pyo3::prelude::*;

use crate::failure::{PyOutcome, invalid};
use crate::graph::PyGraph;
use crate::output::values::id_object;
use crate::settings::Settings;
use crate::watch::watched_reading;

/// What is drawn, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DrawSettings {
    hops: usize,
    vertices: usize,
    layout: String,
    rounds: usize,
    colour: Option<String>,
    size: Option<String>,
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

    fn look(&self) -> Look {
        let paint = match self.colour.as_deref() {
            None => Paint::Plain,
            Some("communities") => Paint::Communities,
            Some(name) => Paint::Property(name.to_owned()),
        };
        Look { paint, size: self.size.clone() }
    }
}

/// The picture as SVG, the ids and places of its vertices, and the number of vertices that could be shown.
type Drawn<'py> = (String, Vec<Bound<'py, PyAny>>, Vec<[f64; 2]>, usize);

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
    let arrangement = how.arrangement()?;
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
        let picture = Picture::new(stored, scene, arrangement, &how.look(), &run)?;
        Ok(match how.labels {
            Some(labels) => picture.with_labels(labels),
            None => picture,
        })
    })?;
    let scene = picture.scene();
    let ids = scene.vertices.iter().map(|&v| id_object(py, view.version(), v)).collect::<PyOutcome<_>>()?;
    let places = picture.places().map(|(_, place)| place).collect();
    Ok((picture.svg(&how.title), ids, places, scene.found))
}
