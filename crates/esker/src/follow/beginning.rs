//! The window with which an answer that follows a stream begins.

use esker_graph::Run;
use esker_store::View;

use crate::change::{Expiries, WindowVersion};
use crate::error::Result;
use crate::window::{MovingWindow, Step, Times};

/// The window of the version `newest`, with its times, as [`MovingWindow::of`] has it; or, where
/// edges of that window have expired, the window of the last version that has them all. A window that moves
/// in steps may begin before the edges that are left. `open` opens a version by its number.
///
/// # Errors
/// As [`MovingWindow::of`].
pub fn first_window(
    moving: &MovingWindow,
    newest: &View,
    open: impl FnOnce(u64) -> Result<View>,
    run: &Run,
) -> Result<Option<(View, Times)>> {
    let found = moving.of(newest, None, run)?;
    let (Some((windowed, times)), Some(Step::Length(_) | Step::LengthAfter(..))) = (&found, moving.every)
    else {
        return Ok(found);
    };
    let Some(window) = windowed.window_index().map(|index| *index.window()) else { return Ok(found) };
    let until = newest.version().number();
    let versions = newest.version().manifest().versions.iter().filter(|version| version.number <= until);
    match Expiries::of(versions, times.unit).version_of(window.after, window.until) {
        WindowVersion::Before(version) => moving.of(&open(version)?, None, run),
        WindowVersion::Newest | WindowVersion::Expired(..) => Ok(found),
    }
}
