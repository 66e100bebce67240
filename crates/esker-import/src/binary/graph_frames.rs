//! GraphFrames, as Spark saves them. A folder with folders of vertices and of edges is opened as Parquet
//! before any format is asked (`open.rs`), so what comes here is none.

use esker_format::{Error, Result};

use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput};

/// GraphFrames.
pub(crate) static GRAPH_FRAMES: InputFormat =
    InputFormat::new("graphframes", "GraphFrames folder", Choices::Columns, open);

fn open(inputs: &[Input], _head: InputHead, _options: &ReadOptions) -> Result<OpenedInput> {
    let name = inputs.first().map(Input::name).unwrap_or_default();
    Err(Error::invalid(format!(
        "{name} is no GraphFrames folder: name one folder that has the folders vertices and edges"
    )))
}
