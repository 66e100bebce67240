//! Settings of an import as the files of the corpus write them.

use std::path::Path;

use esker_import::options::BadLines;
use esker_import::read::format::{PickIds, parse_schema};
use esker_import::{Duplicates, ImportOptions, Pick, PickProperties, ReadOptions};

/// Words such as `src=from` and `header`.
#[derive(Debug, Default)]
pub(super) struct Settings {
    words: Vec<(String, String)>,
    /// The file of vertices beside the file.
    pub(super) vertices: Option<String>,
}

impl Settings {
    pub(super) fn parse(words: &[String]) -> Self {
        let mut settings = Self::default();
        for word in words {
            let word = word.trim_matches('"');
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match name {
                "vertices" if value.parse::<u64>().is_err() => settings.vertices = Some(value.to_owned()),
                _ => settings.words.push((name.to_owned(), value.to_owned())),
            }
        }
        settings
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.vertices.is_none()
    }

    /// Whether they say that the graph is directed or not.
    pub(super) fn give_direction(&self) -> bool {
        self.words.iter().any(|(name, _)| name == "directed" || name == "undirected")
    }

    /// Whether the file has each edge at both of its ends, and they say so.
    pub(super) fn join_both_ends(&self) -> bool {
        self.words.iter().any(|(name, _)| name == "both-ends")
    }

    /// Options that keep parallel edges, and files lie `beside`.
    pub(super) fn options(&self, beside: &Path) -> (ReadOptions, ImportOptions) {
        let mut read = ReadOptions::default();
        let mut options =
            ImportOptions { duplicates: Duplicates::Keep, threads: 1, ..ImportOptions::default() };
        for (name, value) in &self.words {
            let value = || value.clone();
            match name.as_str() {
                "format" => read.format = Some(value().parse().unwrap()),
                "src" => read.source = Some(value()),
                "dst" => read.target = Some(value()),
                "weight" => read.weight = Pick::Column(value()),
                "no-weight" => read.weight = Pick::Skip,
                "time" => read.time = Pick::Column(value()),
                "property" if value() == "all" => read.properties = PickProperties::All,
                "property" => {
                    read.properties =
                        PickProperties::Columns(value().split(',').map(str::to_owned).collect());
                }
                "schema" => read.schema = parse_schema(&value()).unwrap(),
                "default" => read.defaults.push(value().parse().unwrap()),
                "ids" => read.ids = if value() == "text" { PickIds::Text } else { PickIds::Int },
                "delimiter" => {
                    read.delimiter = Some(if value() == "tab" { b'\t' } else { value().as_bytes()[0] });
                }
                "decimal-comma" => read.notation.decimal_comma = Some(true),
                "date-format" => read.notation.formats.push(value().parse().unwrap()),
                "header" => read.header = Some(true),
                "no-header" => read.header = Some(false),
                "no-quotes" => read.quotes = Some(false),
                "vertices" => read.vertices = Some(value()),
                "both-ends" => read.both_ends = true,
                "directed" => options.directed = Some(true),
                "undirected" => options.directed = Some(false),
                "bad-lines" => options.bad_lines = BadLines::Skip,
                other => panic!("there is no setting {other:?}"),
            }
        }
        if let Some(name) = &self.vertices {
            read.vertices = Some(beside.join(name).to_string_lossy().into_owned());
        }
        read.directed = options.directed;
        (read, options)
    }
}
