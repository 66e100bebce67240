//! One graph, kept in every way in which a database keeps graphs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use esker::graph::Run;
use esker::import::install::import;
use esker::import::options::{ImportOptions, NumberingOrder};
use esker::import::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Numbers, Reader, Schema};
use esker::store::format::CopyPolicy;
use esker::store::format::Encoding;
use esker::store::io::{Disk, MemoryDisk};
use esker::store::manifest::StagingOptions;
use esker::store::pool::PoolOptions;
use esker::store::property::PropertyValue;
use esker::store::tiles::ConvertOptions;
use esker::store::{Access, Database, DatabaseOptions, GraphEncoding, HeadedOptions, Result, View};
use esker_graph::random::{Random, hash};

use crate::common::Sample;

/// The weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weights {
    None,
    /// 0 to 9.
    Small,
    /// The same everywhere.
    Equal,
    /// 1, and the largest of 32 bits.
    Large,
    /// 1, and some beyond 32 bits.
    Wide,
    /// Less than nothing at some.
    Negative,
    /// Multiples of a half.
    Halves,
    /// Very small, very large, and equal but for rounding.
    Extreme,
}

impl Weights {
    pub(crate) const ALL: [Self; 8] = [
        Self::None,
        Self::Small,
        Self::Equal,
        Self::Large,
        Self::Wide,
        Self::Negative,
        Self::Halves,
        Self::Extreme,
    ];

    /// That of edge number `i`. That of the first settles the type of all.
    pub(crate) fn of(self, i: usize) -> f64 {
        let noise = hash(i as u64) >> 40;
        let one_of = |values: &[f64]| values[noise as usize % values.len()];
        match self {
            Self::None => 0.0,
            Self::Small => (noise % 10) as f64,
            Self::Equal => 7.0,
            Self::Large => one_of(&[f64::from(i32::MAX), 1.0]),
            Self::Wide => one_of(&[2f64.powi(40), 1.0, 2f64.powi(33) + 1.0, 2f64.powi(50)]),
            Self::Negative => one_of(&[5.0, 9.0, 1.0, 30.0, -1.0]),
            Self::Halves => 0.5 + (noise % 8) as f64 / 2.0,
            Self::Extreme => one_of(&[0.1, 1e-300, 1e100, 0.3, 0.1 + 0.2]),
        }
    }

    fn is_integral(self) -> bool {
        !matches!(self, Self::Halves | Self::Extreme)
    }

    /// The columns of an import.
    pub(crate) fn columns(self, weights: &[f64]) -> Vec<ArrayRef> {
        match self {
            Self::None => Vec::new(),
            _ if self.is_integral() => {
                vec![Numbers::Int(weights.iter().map(|&weight| weight as i64).collect()).finish()]
            }
            _ => vec![Numbers::Float(weights.to_vec()).finish()],
        }
    }

    /// The values of an edge in a commit.
    pub(crate) fn values(self, weight: f64) -> Vec<PropertyValue<'static>> {
        match self {
            Self::None => Vec::new(),
            _ if self.is_integral() => vec![PropertyValue::from(weight as i64)],
            _ => vec![PropertyValue::from(weight)],
        }
    }
}

/// Weights by ends; of an undirected edge the lesser end first.
type Edges = BTreeMap<(u64, u64), f64>;

/// A graph without parallel edges.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) num_vertices: u64,
    pub(crate) directed: bool,
    pub(crate) weights: Weights,
    edges: Edges,
    seed: u64,
}

/// A database, or a version of it, and how far the ids of its vertices lie apart.
pub(crate) struct Form {
    pub(crate) name: String,
    pub(crate) view: View,
    /// The id of vertex `v` is `v * step + first`.
    pub(crate) step: u64,
    pub(crate) first: u64,
}

/// Commits over the base layer.
const COMMITS: usize = 5;

impl Model {
    pub(crate) fn new(name: String, sample: &Sample, weights: Weights) -> Self {
        let mut edges = Edges::new();
        for &(u, v) in &sample.edges {
            let ends = if sample.directed { (u, v) } else { (u.min(v), u.max(v)) };
            edges.insert((u64::from(ends.0), u64::from(ends.1)), 0.0);
        }
        for (i, weight) in edges.values_mut().enumerate() {
            *weight = weights.of(i);
        }
        let num_vertices = sample.num_vertices as u64;
        // What no edge has is of no type.
        let weights = if edges.is_empty() { Weights::None } else { weights };
        Self { name, num_vertices, directed: sample.directed, weights, edges, seed: sample.seed | 1 }
    }

    /// Of these edges; of an undirected one the lesser end first.
    pub(crate) fn of(
        name: String,
        num_vertices: u64,
        directed: bool,
        weights: Weights,
        edges: BTreeMap<(u64, u64), f64>,
    ) -> Self {
        let weights = if edges.is_empty() { Weights::None } else { weights };
        Self { name, num_vertices, directed, weights, edges, seed: 1 }
    }

    /// The same edges without their directions: of two weights, the smaller.
    pub(crate) fn undirected(&self) -> Self {
        let mut edges = Edges::new();
        for (&(u, v), &weight) in &self.edges {
            let least = edges.entry((u.min(v), u.max(v))).or_insert(weight);
            *least = weight.min(*least);
        }
        Self { name: format!("{} without directions", self.name), directed: false, edges, ..*self }
    }

    /// The graph in every form, the plain one first. Versions of several layers have one for each commit,
    /// with deletions.
    pub(crate) fn forms(&self, run: &Run) -> Vec<Form> {
        let form = |name: &str, view| Form { name: name.to_owned(), view, step: 1, first: 0 };
        let whole = |encoding| self.imported(&self.edges, encoding, CopyPolicy::default());
        let plain = whole(Encoding::Plain);
        plain.make_tiles(&ConvertOptions::default(), run).expect("tiles");
        let plain = plain.latest().expect("a version");
        let tiled = |access| plain.view().resident(access).expect("one layer with tiles");
        let pool = PoolOptions { bytes: 8 << 20, segment_bytes: 1 << 20, ..PoolOptions::default() };
        let (tiles, pooled) =
            (tiled(Access::Mapped(GraphEncoding::Tiles)), tiled(Access::Pooled(GraphEncoding::Tiles, pool)));
        let pool = PoolOptions { bytes: 8 << 20, ..PoolOptions::of_lists() };
        let parts = Access::Pooled(GraphEncoding::Lists, pool);
        let pooled_lists = tiled(parts);
        let compressed = whole(Encoding::Compressed).latest().expect("a version");
        let mut forms = vec![
            form("plain", plain.view()),
            form("tiles", tiles),
            form("pooled tiles", pooled),
            form("pooled lists", pooled_lists),
            form("pooled compressed lists", compressed.view().resident(parts).expect("one layer")),
            form("compressed", compressed.view()),
        ];
        for (name, encoding, policy) in [
            ("layers that chain", Encoding::Plain, CopyPolicy::Chain),
            ("layers that copy", Encoding::Plain, CopyPolicy::Copy),
            ("layers over a compressed one", Encoding::Compressed, CopyPolicy::Mixed),
        ] {
            let database = self.layered(encoding, policy, run);
            let newest = database.latest().expect("a version");
            forms.extend(self.in_parts("layers", &newest.view()));
            forms.push(form(name, newest.view()));
            if policy != CopyPolicy::Copy {
                let buried = self.buried(&database, run);
                forms.extend(self.in_parts("a version in the middle of a layer", &buried));
                forms.push(form("a version in the middle of a layer", buried));
            }
        }
        forms.push(self.among_removed(run));
        forms
    }

    /// The graph as plain lists.
    pub(crate) fn plain(&self) -> View {
        self.imported(&self.edges, Encoding::Plain, CopyPolicy::default()).latest().expect("a version").view()
    }

    /// A database of one layer.
    fn imported(&self, edges: &Edges, encoding: Encoding, policy: CopyPolicy) -> Database {
        self.database(self.num_vertices, edges, encoding, policy)
    }

    fn database(&self, num_vertices: u64, edges: &Edges, encoding: Encoding, policy: CopyPolicy) -> Database {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let path = Path::new("/g.esker");
        let reader = Box::new(Listed::new(self, num_vertices, edges));
        let options = ImportOptions {
            order: NumberingOrder::Keep,
            encoding,
            threads: 1,
            memory_bytes: 16 << 20,
            ..ImportOptions::default()
        };
        import(&disk, reader, path, &options, StagingOptions::default()).expect("an import");
        let options = DatabaseOptions {
            policy: Some(policy),
            auto_merge: Some(false),
            threads: 1,
            ..DatabaseOptions::default()
        };
        Database::open_on(disk, path, options).expect("a database")
    }

    /// Edges that the graph has not.
    fn others(&self) -> Edges {
        let mut random = Random::new(self.seed);
        let mut draw = || random.below(self.num_vertices);
        let mut others = Edges::new();
        for _ in 0..if self.num_vertices == 0 { 0 } else { self.edges.len() / 2 + 3 } {
            let (u, v) = (draw(), draw());
            let ends = if self.directed { (u, v) } else { (u.min(v), u.max(v)) };
            if !self.edges.contains_key(&ends) {
                others.insert(ends, self.weights.of(0));
            }
        }
        others
    }

    /// A layer for each commit, but for the last, which is in the log alone if lists are copied.
    fn layered(&self, encoding: Encoding, policy: CopyPolicy, run: &Run) -> Database {
        let others = self.others();
        // In the first layer stands a part of the edges, some with another weight, and what is taken away
        // later.
        let mut base = others.clone();
        for (i, (&ends, &weight)) in self.edges.iter().enumerate() {
            match i % 4 {
                0 => base.insert(ends, weight),
                1 => base.insert(ends, self.weights.of(0)),
                _ => None,
            };
        }
        let database = self.imported(&base, encoding, policy);
        database.make_tiles(&ConvertOptions::default(), run).expect("tiles");
        for commit in 0..COMMITS {
            let mut batch = database.batch();
            let mut add = |ends: (u64, u64), weight| {
                batch.add_edge(ends.0, ends.1, &self.weights.values(weight)).expect("an edge");
            };
            for (i, (&ends, &weight)) in self.edges.iter().enumerate() {
                if i % 4 != 0 && i % COMMITS == commit {
                    add(ends, weight);
                }
                // Some come, go and come back.
                if i % 7 == 0 && commit == COMMITS - 1 {
                    add(ends, weight);
                }
            }
            for (i, ends) in others.keys().enumerate().filter(|(i, _)| i % COMMITS == commit) {
                batch.remove_edge(ends.0, ends.1).expect("an edge");
                if i % 3 == 0 && !self.directed {
                    batch.remove_edge(ends.1, ends.0).expect("an edge");
                }
            }
            for (i, ends) in self.edges.keys().enumerate().filter(|(i, _)| i % 7 == 0) {
                if commit + 1 < COMMITS && i % (COMMITS - 1) == commit {
                    batch.remove_edge(ends.0, ends.1).expect("an edge");
                }
            }
            database.commit(batch, "more, and less").expect("a commit");
            if policy != CopyPolicy::Copy || commit + 1 < COMMITS {
                database.freeze(run).expect("a layer");
            }
        }
        database
    }

    /// The newest version, after others have come and all layers were merged.
    fn buried(&self, database: &Database, run: &Run) -> View {
        let version = database.latest().expect("a version").number();
        let mut batch = database.batch();
        for (i, ends) in self.edges.keys().enumerate() {
            if i % 2 == 0 {
                batch.remove_edge(ends.0, ends.1).expect("an edge");
            } else {
                batch.add_edge(ends.0, ends.1, &self.weights.values(self.weights.of(0))).expect("an edge");
            }
        }
        for ends in self.others().keys() {
            batch.add_edge(ends.0, ends.1, &self.weights.values(self.weights.of(0))).expect("an edge");
        }
        database.commit(batch, "other edges").expect("a commit");
        database.compact(run).expect("one layer");
        database.make_tiles(&ConvertOptions::default(), run).expect("tiles");
        database.at(version).expect("a version that is kept").view()
    }

    /// Vertices with odd numbers are those of the graph; those with even ones were removed, with many edges.
    fn among_removed(&self, run: &Run) -> Form {
        let num_vertices = 2 * self.num_vertices + 1;
        let mut edges: Edges =
            self.edges.iter().map(|(&(u, v), &weight)| ((2 * u + 1, 2 * v + 1), weight)).collect();
        for v in 1..num_vertices {
            edges.insert((v - 1, v), self.weights.of(0));
        }
        let database = self.database(num_vertices, &edges, Encoding::Plain, CopyPolicy::default());
        let tiles = || {
            database.make_tiles(&ConvertOptions::default(), run).expect("tiles");
        };
        let is_compact = self.num_vertices.is_multiple_of(2);
        if !is_compact {
            tiles();
        }
        let mut batch = database.batch();
        (0..num_vertices).step_by(2).for_each(|v| batch.remove_vertex(v).expect("a vertex"));
        database.commit(batch, "fewer").expect("a commit");
        if self.seed & 2 == 0 {
            database.freeze(run).expect("a layer");
        }
        if is_compact {
            database.compact(run).expect("one layer");
            tiles();
        }
        let version = database.latest().expect("a version");
        let mut accesses = accesses(&version.view());
        accesses.push(("lists", Access::default()));
        let (how, access) = accesses[self.seed as usize / 2 % accesses.len()];
        let name =
            format!("{how} among removed vertices, {}", if is_compact { "compact" } else { "over layers" });
        Form { name, view: version.view().resident(access).expect("what there is"), step: 2, first: 1 }
    }

    /// A version in some of the ways to read it; other models take the others.
    fn in_parts(&self, name: &str, view: &View) -> Vec<Form> {
        let accesses = accesses(view);
        let first = self.seed as usize / 2;
        let some = accesses.iter().cycle().skip(first % accesses.len()).step_by(2).take(accesses.len() / 2);
        let form = |&(how, access): &(&str, Access)| {
            let view = view.clone().resident(access).expect("what there is");
            Form { name: format!("{how} of {name}"), view, step: 1, first: 0 }
        };
        some.map(form).collect()
    }
}

/// The ways to read a version in a fixed memory, and as tiles if it has them.
pub(crate) fn accesses(view: &View) -> Vec<(&'static str, Access)> {
    let pool = PoolOptions { bytes: 8 << 20, segment_bytes: 1 << 20, ..PoolOptions::default() };
    let parts = PoolOptions { bytes: 8 << 20, ..PoolOptions::of_lists() };
    let mut all = vec![
        ("pooled lists", Access::Pooled(GraphEncoding::Lists, parts)),
        ("lists in memory", Access::Memory),
    ];
    if view.version().complete_layer().record().encoding == Encoding::Plain {
        let heads = HeadedOptions { head_len: Some(2), memory_bytes: 64 << 20 };
        all.push(("headed lists", Access::Headed(heads)));
    }
    if view.version().tiles().is_ok() {
        all.push(("tiles", Access::Mapped(GraphEncoding::Tiles)));
        all.push(("pooled tiles", Access::Pooled(GraphEncoding::Tiles, pool)));
    }
    all
}

/// Edges as an input.
pub(crate) struct Listed {
    schema: Schema,
    is_read: bool,
    parser: Arc<ListedParser>,
}

struct ListedParser(EdgeBatch);

impl Listed {
    fn new(model: &Model, num_vertices: u64, edges: &Edges) -> Self {
        let weights: Vec<f64> = edges.values().copied().collect();
        let batch = EdgeBatch {
            properties: model.weights.columns(&weights),
            ..EdgeBatch::of_integers(
                edges.keys().map(|ends| ends.0).collect(),
                edges.keys().map(|ends| ends.1).collect(),
                0,
            )
        };
        let weighted = model.weights != Weights::None;
        let schema = Schema {
            operation: None,
            kind: None,
            format: "list",
            ids: IdKind::Numbered { first: 0, num_vertices },
            properties: if weighted { vec!["weight".to_owned()] } else { Vec::new() },
            weight: weighted.then_some(0),
            types: Vec::new(),
            directed: Some(model.directed),
            time: None,
            both_ends: false,
            input_bytes: None,
        };
        Self::of(schema, batch)
    }

    pub(crate) fn of(schema: Schema, batch: EdgeBatch) -> Self {
        Self { schema, is_read: false, parser: Arc::new(ListedParser(batch)) }
    }
}

impl Reader for Listed {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as Arc<dyn BlockParser>
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let block = InputBlock { bytes: Vec::new(), first_line: 1, file: 0, input_bytes: 0 };
        Ok((!std::mem::replace(&mut self.is_read, true)).then_some(block))
    }
}

impl BlockParser for ListedParser {
    fn parse(&self, _: InputBlock) -> Result<EdgeBatch> {
        Ok(self.0.clone())
    }
}
