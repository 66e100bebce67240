//! Where an export goes: a file under a temporary name until it is complete, or standard output; compressed
//! or not.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Cursor, Disk, File, Lock, expect_outside_databases, parent};
use esker_format::{Error, Result};
use esker_graph::{Setting, message};

use super::options::{ExportOptions, OutputCompression};
use super::terminal::Escaped;

const BUFFER_BYTES: usize = 1 << 20;

enum Encoder {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(flate2::write::GzEncoder<BufWriter<Box<dyn Write + Send>>>),
    Zstd(zstd::Encoder<'static, BufWriter<Box<dyn Write + Send>>>),
    Bzip2(bzip2::write::BzEncoder<BufWriter<Box<dyn Write + Send>>>),
}

/// An output that is being written. Dropped before [`OutputFile::finish`], it leaves no file.
pub struct OutputFile {
    path: PathBuf,
    /// The file and its temporary name; `None` for standard output.
    file: Option<(Arc<dyn File>, PathBuf)>,
    /// Tells the next export to the same file that this one is not dead.
    lock: Option<Box<dyn Lock>>,
    disk: Arc<dyn Disk>,
    overwrite: bool,
    encoder: Option<Encoder>,
}

impl OutputFile {
    /// Begins a file, or standard output if the path is `-`.
    ///
    /// # Errors
    /// If the file exists and is not to be replaced, or cannot be made.
    pub fn open(path: &Path, options: &ExportOptions) -> Result<Self> {
        let compression =
            options.compression.unwrap_or_else(|| OutputCompression::from_name(&path.to_string_lossy()));
        let mut output = Self {
            path: path.to_owned(),
            file: None,
            lock: None,
            disk: Arc::clone(&options.disk),
            overwrite: options.overwrite,
            encoder: None,
        };
        let raw: Box<dyn Write + Send> = if path.as_os_str() == "-" {
            match io::stdout() {
                out if out.is_terminal() => Box::new(Escaped::new(out)),
                out => Box::new(out),
            }
        } else {
            expect_outside_databases(output.disk.as_ref(), path)?;
            output.check_free()?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            remove_leftovers(output.disk.as_ref(), path, &name);
            let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
            if output.disk.look(&temporary)?.is_some() {
                output.disk.remove_file(&temporary)?;
            }
            let file = output.disk.create(&temporary).map_err(|error| match error {
                // Name the file that the user named.
                Error::Io { action, source, .. } => Error::Io { action, path: path.to_owned(), source },
                error => error,
            })?;
            output.lock = file.try_lock()?;
            output.file = Some((Arc::clone(&file), temporary));
            Box::new(Cursor::new(file, 0))
        };
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, raw);
        output.encoder = Some(match compression {
            OutputCompression::None => Encoder::Plain(buffered),
            OutputCompression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(buffered, flate2::Compression::new(6)))
            }
            OutputCompression::Zstd => {
                Encoder::Zstd(zstd::Encoder::new(buffered, 3).map_err(Error::io("write", path))?)
            }
            OutputCompression::Bzip2 => {
                Encoder::Bzip2(bzip2::write::BzEncoder::new(buffered, bzip2::Compression::default()))
            }
        });
        Ok(output)
    }

    fn check_free(&self) -> Result<()> {
        let directory = parent(&self.path);
        let is_root = directory == Path::new(".") || directory == Path::new("/");
        if !is_root && self.disk.look(&directory)?.is_none() {
            let (path, directory) = (self.path.display(), directory.display());
            return Err(Error::invalid(format!(
                "cannot write {path}: there is no directory {directory}; create it, or choose another name"
            )));
        }
        match self.disk.look(&self.path)? {
            Some(entry) if entry.is_directory => {
                Err(Error::invalid(format!("{} is a directory: name a file", self.path.display())))
            }
            Some(_) if !self.overwrite => Err(Error::Exists(message![
                format!(
                    "{} exists already: remove it, name another file, or replace it with ",
                    self.path.display()
                ),
                Setting::Overwrite.to(true),
            ])),
            _ => Ok(()),
        }
    }

    /// An error unless a name leads to the file that was written: somebody may have removed or replaced it.
    fn expect_named(&self, file: &dyn File, name: &Path) -> Result<()> {
        let id = file.id()?;
        match self.disk.identify(name)? {
            Some(named) if named.id == id => Ok(()),
            _ => Err(Error::invalid(format!(
                "cannot write {}: {} was removed or replaced while it was written: export again",
                self.path.display(),
                name.display()
            ))),
        }
    }

    /// For `map_err`: an error of writing this output.
    pub fn error(&self) -> impl Fn(io::Error) -> Error + 'static {
        let path = self.path.clone();
        move |source| Error::Io { action: "write", path: path.clone(), source }
    }

    /// Completes the output and gives the file its name.
    ///
    /// # Errors
    /// If something cannot be written, or the name has been taken meanwhile.
    pub fn finish(mut self) -> Result<PathBuf> {
        let Some(encoder) = self.encoder.take() else { return Ok(self.path.clone()) };
        let buffered = match encoder {
            Encoder::Plain(buffered) => Ok(buffered),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
            Encoder::Bzip2(encoder) => encoder.finish(),
        };
        buffered.and_then(|mut buffered| buffered.flush()).map_err(self.error())?;
        if let Some((file, temporary)) = self.file.take() {
            let named = file.sync().and_then(|()| self.check_free()).and_then(|()| {
                self.expect_named(file.as_ref(), &temporary)?;
                if self.overwrite {
                    self.disk.replace(&temporary, &self.path)?;
                } else {
                    self.disk.rename(&temporary, &self.path)?;
                }
                self.disk.sync_directory(&parent(&self.path))
            });
            if named.is_err() {
                self.file = Some((file, temporary));
            }
            named?;
        }
        Ok(self.path.clone())
    }
}

/// Removes the temporary files that killed exports to `path` left: those of processes that are gone from this
/// machine and of which no other machine holds the lock. What cannot be read or removed stays.
fn remove_leftovers(disk: &dyn Disk, path: &Path, name: &str) {
    let directory = parent(path);
    let Ok(entries) = disk.list(&directory) else { return };
    for entry in entries.iter().filter(|entry| !entry.is_directory && !entry.is_link) {
        let rest = entry.name.strip_prefix('.').and_then(|rest| rest.strip_prefix(name));
        let process =
            rest.and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.strip_suffix(".part"));
        let Some(process) = process.and_then(|digits| digits.parse::<u32>().ok()) else { continue };
        let is_running = disk.look(&Path::new("/proc").join(process.to_string()));
        if process == std::process::id() || !matches!(is_running, Ok(None)) {
            continue;
        }
        let leftover = directory.join(&entry.name);
        if let Ok(Some(_lock)) = disk.try_lock(&leftover) {
            let _ = disk.remove_file(&leftover);
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Some(Encoder::Plain(writer)) => writer.write(bytes),
            Some(Encoder::Gzip(writer)) => writer.write(bytes),
            Some(Encoder::Zstd(writer)) => writer.write(bytes),
            Some(Encoder::Bzip2(writer)) => writer.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    /// Nothing is promised before [`OutputFile::finish`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some((_, temporary)) = &self.file {
            // Best effort: whatever made the export fail is being reported already.
            let _ = self.disk.remove_file(temporary);
        }
    }
}
