//! Code shared by the verbs that answer small questions about a version.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use esker::answer::Value as AnswerValue;
use esker::differences::value_json;
use esker::graph::{Run, RunOptions, VertexId};
use esker::local::{Incidence, LocalEdge, LocalGraph, PathDirection};
use esker::session::{LocalSelection, Selection, VersionSource};
use esker::store::Version;
use serde_json::Value;

use crate::args::at::AtArgs;
use crate::args::selecting::WhereArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::session::opening::open_store_with;
use crate::show::answer_rows;
use crate::show::rounding::RoundArg;
use crate::show::rows::{RowFormat, RowTable};
use crate::show::text;

/// The database, the version and the form of the answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    form: FormArgs,
}

/// The database, the version, and which of its edges count.
#[derive(Debug, Clone, Args)]
pub(crate) struct SubjectArgs {
    /// The database
    database: PathBuf,
    #[command(flatten)]
    at: AtArgs,
    #[command(flatten)]
    part: WhereArgs,
}

/// The form of the answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct FormArgs {
    /// Form of the answer
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    format: RowFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    pub(crate) round: RoundArg,
}

/// A version of a database to ask.
pub(crate) struct Asked {
    pub(crate) version: Version,
    /// Which edges are asked about.
    pub(crate) selection: Selection,
    edges: LocalSelection,
    pub(crate) run: Run,
}

impl SubjectArgs {
    /// Opens the version.
    pub(crate) fn open(&self) -> Result<Asked, Failure> {
        let selection = Selection {
            version: self.at.at.clone(),
            conditions: self.part.conditions.clone(),
            kinds: self.part.kinds.kinds(),
            ..Selection::default()
        };
        Asked::open(&self.database, &selection)
    }
}

impl AskArgs {
    /// Opens the version.
    pub(crate) fn open(&self) -> Result<Asked, Failure> {
        self.form.round.apply();
        self.subject.open()
    }

    /// Prints the answer.
    pub(crate) fn print(&self, rows: &RowTable) -> Outcome {
        self.form.print(rows)
    }
}

impl FormArgs {
    /// Prints the answer if it was asked for as one JSON value.
    pub(crate) fn print_if_json(&self, rows: &RowTable) -> Outcome {
        if self.format() == RowFormat::Json { self.print(rows) } else { Ok(()) }
    }

    /// Prints the answer.
    pub(crate) fn print(&self, rows: &RowTable) -> Outcome {
        rows.print(self.format())
    }

    pub(crate) fn format(&self) -> RowFormat {
        if self.json { RowFormat::Json } else { self.format }
    }
}

impl Asked {
    /// Opens the version of a selection, of whose edges it asks.
    pub(crate) fn open(database: &Path, selection: &Selection) -> Result<Self, Failure> {
        let cancel = cancel_on_signals()?;
        let version = open_store_with(database, &cancel)?.selected(selection.selector())?;
        let run = Run::new(RunOptions { threads: 1, cancel, ..RunOptions::default() })?;
        let edges = selection.local(&version, &run)?;
        edges.warnings.iter().for_each(|warning| text::warn(&format!("warning: {warning}")));
        Ok(Self { version, selection: selection.clone(), edges, run })
    }

    /// The edges that are asked about.
    pub(crate) fn graph(&self) -> LocalGraph<'_> {
        self.edges.graph(&self.version)
    }

    /// Which way paths lead over them.
    pub(crate) fn direction(&self) -> PathDirection {
        self.edges.direction
    }

    /// The direction that was given, else the usual one.
    ///
    /// # Errors
    /// One was given, but edges have no direction.
    pub(crate) fn direction_or(
        &self,
        given: Option<DirectionArg>,
        usual: DirectionArg,
    ) -> Result<DirectionArg, Failure> {
        match given {
            Some(_) if !self.version.is_directed() => Err(Failure::Usage(
                "--direction has no effect: the edges of an undirected graph have no direction".to_owned(),
            )),
            given => Ok(given.unwrap_or(usual)),
        }
    }

    /// The vertex with an id.
    pub(crate) fn vertex(&self, id: &str) -> Result<VertexId, Failure> {
        Ok(self.version.find_vertex(id, &self.run)?)
    }

    /// The vertices with these ids.
    pub(crate) fn vertices(&self, ids: &[String]) -> Result<Vec<VertexId>, Failure> {
        ids.iter().map(|id| self.vertex(id)).collect()
    }

    /// The id of a vertex.
    pub(crate) fn id(&self, v: VertexId) -> Result<Value, Failure> {
        answer_rows::value_json(&self.version, AnswerValue::Vertex(v))
    }

    /// Edges as rows: source, target, properties.
    pub(crate) fn edges(&self, edges: &[LocalEdge<'_>]) -> Result<RowTable, Failure> {
        let properties = self.version.edge_properties().map(|property| property.name.clone());
        let mut rows = RowTable::of(["source", "target"].map(str::to_owned).into_iter().chain(properties));
        for edge in edges {
            let mut row = vec![self.id(edge.source)?, self.id(edge.target)?];
            row.extend(edge.values.iter().map(value_json));
            rows.push(row);
        }
        Ok(rows)
    }
}

/// `--direction`: which edges of a vertex count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionArg {
    /// Those that leave it.
    Out,
    /// Those that arrive.
    In,
    /// Both.
    Both,
}

impl DirectionArg {
    pub(crate) fn reach(self) -> Incidence {
        match self {
            Self::Out => Incidence::Out,
            Self::In => Incidence::In,
            Self::Both => Incidence::Both,
        }
    }
}
