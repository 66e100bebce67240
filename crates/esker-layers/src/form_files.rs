//! Where the forms of a layer that lie beside its lists are written: tiles and heads.

use std::path::Path;
use std::sync::Arc;

use esker_format::Origin;
use esker_format::io::Disk;

/// Where the tiles or the heads of a layer are written.
#[derive(Debug, Clone, Copy)]
pub struct FormFiles<'a> {
    /// The disk.
    pub disk: &'a Arc<dyn Disk>,
    /// The directory of the layer.
    pub directory: &'a Path,
    /// Binds the files to their record in the manifest.
    pub origin: Origin,
}
