//! `esker commit`: commits a script of changes as one version.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use esker::change::commit_script;
use esker::import::read::input::{Input, expand};
use serde_json::json;

use crate::args::importing::file_names;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::session::committing::Commits;
use crate::session::writing::WriteArgs;
use crate::show::text;

/// Bytes of a script that are read before the database is locked. The rest is read as it is needed, so a long
/// script takes no memory.
const TYPED_BYTES_MAX: u64 = 1 << 20;

/// Commit a script of changes as one version
///
/// Reads one change per line and commits all of them, or none, as one version. The output of `esker diff` is
/// such a script: `esker diff a.esker 3 4 | esker commit b.esker` repeats the changes in another database.
#[derive(Debug, Args)]
#[command(after_help = "Changes:
  + u v name=value ...      add an edge, or set the properties of an existing one
  - u v                     delete an edge; of parallel edges all, or those with given values, as in - u v kind=road
  - u v edge_id=v7.2        where edges have ids (esker import --edge-ids): delete the one with this id
  -2 u v name=value ...     where edges may be parallel: delete two of these; +2 adds two
  + u                       add a vertex
  - u                       delete a vertex with its edges
  u name=value ...        set properties of a vertex that exists; `name=` removes a value
  + u v weight=~          add an edge without a weight
  # comment
Put text with spaces, quotes or = in double quotes; inside, write \\\" for a quote and \\\\ for a backslash.

Examples:
  printf '+ alice bob weight=3\\n- bob carol\\n' | esker commit friends.esker -m 'bob moved'
  esker commit friends.esker changes.txt")]
pub(crate) struct CommitCommand {
    /// The database
    database: PathBuf,
    /// File of changes; `-` is standard input
    #[arg(default_value = "-")]
    script: String,
    /// Take lines that delete, or set properties, of vertices that do not exist: nothing is deleted, and
    /// properties add the vertex
    #[arg(long)]
    new: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    write: WriteArgs,
}

impl CommitCommand {
    pub(crate) fn carry_out(&self) -> Outcome {
        // Read before catching signals and locking the database: the user may be typing the script.
        let inputs = expand(&[&self.script], interrupt::token())?;
        let [input] = &inputs[..] else {
            return Err(Failure::Usage(format!("{} matches several files; give one file", self.script)));
        };
        let (mut stream, mut beginning) = (input.open()?, Vec::new());
        (&mut stream).take(TYPED_BYTES_MAX).read_to_end(&mut beginning)?;
        let mut script = Cursor::new(beginning).chain(BufReader::new(stream));
        let commits = Commits::end_on_signals(&self.database, true)?;
        self.commit(input, &mut script, &commits).map_err(|failure| commits.failed(failure))
    }

    fn commit(&self, input: &Input, script: &mut dyn BufRead, commits: &Arc<Commits>) -> Outcome {
        let writing = self.write.open(&self.database, commits)?;
        let options = self.write.commit(|| match input {
            Input::Stdin(_) => "commit".to_owned(),
            input => format!("commit {}", file_names(&[input.name()])),
        });
        let path = input.path();
        let (database, target) = (writing.destination(), &writing.target);
        let report = commit_script(database, target, script, Path::new(&*path), self.new, &options)?;
        let written = self.write.finish(writing, report.changes, report.version.as_slice())?;
        if self.json {
            return text::json(&json!({
                "database": self.database.display().to_string(),
                "version": report.version,
                "lines": report.changes,
                "changes": written.json(),
            }));
        }
        let name = self.database.display();
        match report.version {
            Some(version) => text::line(&format!("{name}: version {version}: {}", written.describe())),
            None => text::line(&format!("{name}: nothing to commit")),
        }
    }
}
