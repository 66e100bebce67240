//! `esker_run('web.esker', 'pagerank', damping := 0.9)`: the rows of an answer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use esker::answer::{Answer, Value, Values};
use esker::catalogue::{CATALOGUE, OptKind, Params, find};
use esker::computation::Computation;
use esker::graph::{Operation, VertexId, message};
use esker::store::Version;
use esker::store::format::VersionRecord;
use esker::{Error, Session, guarded};
use parking_lot::Mutex;

use crate::arguments::{of_runs, open, said, select};
use crate::columns::{ColumnType, TableColumn};
use crate::table::{ArgumentType, Given, NamedArgument, Rows, Table};

/// A run of an algorithm, which happens when the query is prepared: only the answer tells its columns.
pub(crate) struct AnswerTable {
    answer: Arc<Answer>,
    version: Version,
    keys: usize,
}

/// The rows that are left.
pub(crate) struct AnswerPart {
    answer: Arc<Answer>,
    version: Version,
    keys: usize,
    next: usize,
}

/// Options of all algorithms, by their names in SQL.
fn options() -> BTreeMap<String, (&'static str, ArgumentType)> {
    let all = CATALOGUE.iter().flat_map(|entry| entry.options);
    let kind = |kind: OptKind| if kind == OptKind::Flag { ArgumentType::Flag } else { ArgumentType::Text };
    all.map(|option| (option.name.replace('-', "_"), (option.name, kind(option.kind)))).collect()
}

impl Table for AnswerTable {
    type Scan = ();
    type Part = AnswerPart;

    const NAME: &'static str = "esker_run";
    const POSITIONAL: usize = 2;
    const THREADS: u64 = 1;

    fn named() -> Vec<NamedArgument> {
        let mut all = of_runs();
        for (name, (_, kind)) in options() {
            if all.iter().all(|before| before.name != name) {
                all.push(NamedArgument { name, kind });
            }
        }
        all
    }

    fn bind(given: &Given) -> Result<Self, String> {
        let session = open(given)?;
        let (answer, version) = guarded(session.path(), || answer(&session, given).map_err(Failed))
            .map_err(|Failed(reason)| reason)?;
        let keys = if answer.edges.is_some() { 2 } else { 1 };
        Ok(Self { answer, version, keys })
    }

    fn columns(&self) -> Vec<(String, ColumnType)> {
        let id = ColumnType::of_ids(&self.version);
        let keys: &[&str] = if self.keys == 2 { &["source", "target"] } else { &["vertex"] };
        let keys = keys.iter().map(|&key| (key.to_owned(), id));
        let columns = self.answer.columns.iter().map(|column| {
            let kind = match column.values {
                Values::Vertex(_) => id,
                Values::Index(_) | Values::Integer(_) => ColumnType::BigInt,
                Values::Count(_) => ColumnType::UBigInt,
                Values::Float(_) => ColumnType::Double,
            };
            (column.name.to_owned(), kind)
        });
        keys.chain(columns).collect()
    }

    fn rows(&self) -> u64 {
        num_rows(&self.answer) as u64
    }

    fn scan(&self) -> Result<(), String> {
        Ok(())
    }

    fn part(&self, _: &Arc<()>) -> AnswerPart {
        let (answer, version) = (Arc::clone(&self.answer), self.version.clone());
        AnswerPart { answer, version, keys: self.keys, next: 0 }
    }
}

/// The answer of the last run, and what it is of. DuckDB may prepare a query more than once before it runs.
static LAST: Mutex<Option<LastAnswer>> = Mutex::new(None);

struct LastAnswer {
    path: PathBuf,
    version: VersionRecord,
    given: Given,
    answer: Arc<Answer>,
}

impl LastAnswer {
    /// The answer, if it is of these arguments and this version.
    fn of(&self, given: &Given, version: &Version) -> Option<Arc<Answer>> {
        let is_same =
            self.given == *given && self.version == *version.record() && self.path == *version.path();
        is_same.then(|| Arc::clone(&self.answer))
    }
}

/// A reason, as an error of what [`guarded`] does.
struct Failed(String);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(said(error))
    }
}

fn answer(session: &Session, given: &Given) -> Result<(Arc<Answer>, Version), String> {
    let name = given.positional.get(1).map_or("", String::as_str);
    let entry = find(name).map_err(said)?;
    if !entry.has_rows() {
        let reason = format!("{name} has no rows: its answer is a few numbers, which ");
        return Err(said(Error::usage(message![reason, Operation::Run.on(name), " prints"])));
    }
    let (known, mut params) = (options(), Params::default());
    let of_selection: Vec<String> = of_runs().into_iter().map(|argument| argument.name).collect();
    for (argument, value) in &given.named {
        let is_own = entry.options.iter().any(|option| option.name.replace('-', "_") == *argument);
        match known.get(argument) {
            // An option of another algorithm is refused by name, below.
            Some((option, _)) if is_own || !of_selection.contains(argument) => params.add(option, value),
            _ => {}
        }
    }
    let view = select(session, given)?.view;
    let version = view.version().clone();
    let mut last = LAST.lock();
    if let Some(answer) = last.as_ref().and_then(|last| last.of(given, &version)) {
        return Ok((answer, version));
    }
    *last = None;
    let computation = Computation::of(entry, &params);
    let run = session.run();
    let planned = computation.plan_beside(&view, session.resources(), run).map_err(said)?;
    let answer = Arc::new(planned.run(run).map_err(said)?);
    *last = Some(LastAnswer {
        path: version.path().to_owned(),
        version: version.record().clone(),
        given: given.clone(),
        answer: Arc::clone(&answer),
    });
    Ok((answer, version))
}

fn num_rows(answer: &Answer) -> usize {
    let of_columns = || answer.columns.first().map_or(0, |column| column.values.len());
    answer.edges.as_ref().map_or_else(of_columns, Vec::len)
}

impl Rows for AnswerPart {
    fn next(
        &mut self,
        room: usize,
        columns: &[usize],
        into: &mut [TableColumn<'_>],
    ) -> Result<usize, String> {
        let rows = self.next..num_rows(&self.answer).min(self.next + room);
        for (&column, into) in columns.iter().zip(into) {
            if column < self.keys {
                let ends = rows.clone().map(|row| match (self.answer.key(row), column) {
                    (Value::Edge(source, _), 0) => source,
                    (Value::Edge(_, target), _) => target,
                    (Value::Vertex(v), _) => v,
                    _ => 0,
                });
                into.put_ids(&self.version, &ends.collect::<Vec<VertexId>>())?;
                continue;
            }
            let values = &self.answer.columns[column - self.keys].values;
            for (place, row) in rows.clone().enumerate() {
                match values.get(row) {
                    Value::Missing | Value::Edge(..) => into.put_null(place),
                    Value::Vertex(v) => into.put_id(&self.version, place, v)?,
                    Value::Integer(value) => into.put_bits(place, value.cast_unsigned()),
                    Value::Count(value) => into.put_bits(place, value),
                    Value::Float(value) => into.put_bits(place, value.to_bits()),
                }
            }
        }
        self.next = rows.end;
        Ok(rows.len())
    }
}
