//! Arrow IPC, file and stream: columns chosen by name, decoded by many threads in runs of rows.
//!
//! The messages are found when a file is opened; a parser reads only those bytes of the columns it wants that belong to
//! its rows. Buffers are decoded here rather than by the `arrow` crates: that takes only the columns wanted, bounds
//! memory by the run instead of the record batch, and makes damage an error (those crates trust buffers in places).
//! Memory beside the batch: the dictionaries of the columns; and, when a compressed record batch is longer than a run,
//! its decompressed columns.

mod message;
mod layout;
mod body;
mod column;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use body::{Body, Inflated};
use column::read_column;
use esker_format::{Error, Result};
use layout::{Field, fields};
use message::{Contents, Dictionary, contents};

use super::region::Region;
use super::runs::{RUN_ROWS, RowRun, Section, SectionReader};
use super::table::{self, Chosen, Data, Holds, Origin, Values, contain, damaged};
use crate::format::{Format, ReadOptions};
use crate::input::Input;
use crate::source::{Batch, Block, BlockParser, IdKind, Reader};

/// Decompressed record batches that are kept for the runs that follow, at most.
const INFLATED_MAX: usize = 2;

/// Opens Arrow IPC files (or files that hold a stream) with the same columns. See [`ReadOptions`] for which columns
/// are taken.
///
/// # Errors
/// If a file cannot be opened or is damaged, or the columns cannot be told or do not exist.
pub fn open_arrow(inputs: &[Input], options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let mut files: Vec<ArrowFile> = Vec::new();
    let mut sections = Vec::new();
    let (mut ids, mut bytes_all) = (IdKind::Int, 0);
    for input in inputs {
        let region = Region::open(input, Format::Arrow)?;
        bytes_all += region.bytes();
        let path = Arc::clone(region.path());
        let first = files.first().map(|file| (&file.chosen, file.names.as_slice()));
        let file = contain(&path, || ArrowFile::open(region, first, options))?;
        let ends = [file.fields[0].holds(), file.fields[1].holds()];
        if table::id_kind(&path, ends, options)? == IdKind::Text {
            ids = IdKind::Text;
        }
        file.add_sections(files.len(), &mut sections)?;
        files.push(file);
    }
    let Some(first) = files.first() else {
        return Err(Error::Invalid("no Arrow file is named".to_owned()));
    };
    let schema = table::schema(Format::Arrow.name(), ids, &first.chosen, bytes_all);
    let parser = ArrowParser { files, ids, inflated: Mutex::default() };
    Ok(Box::new(SectionReader::new(schema, Arc::new(parser), sections)))
}

struct ArrowFile {
    region: Region,
    names: Vec<(String, Holds)>,
    chosen: Chosen,
    fields: Vec<Field>,
    batches: Vec<message::BatchEntry>,
    dictionaries: Vec<Dictionary>,
    /// The dictionaries decoded last: index in `dictionaries`, and values.
    decoded: Mutex<Vec<(usize, Arc<Values>)>>,
}

impl ArrowFile {
    fn open(
        region: Region,
        first: Option<(&Chosen, &[(String, Holds)])>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let Contents { schema, batches, dictionaries } = contents(&region)?;
        let all = fields(region.path(), &schema)?;
        let names: Vec<_> = all.iter().map(|field| (field.name.clone(), field.holds())).collect();
        let chosen = match first {
            None => table::choose(region.path(), &names, options)?,
            Some((chosen, own)) => chosen.in_file(region.path(), own, &names)?,
        };
        let fields = chosen.columns.iter().map(|&index| all[index].clone()).collect();
        Ok(Self { region, names, chosen, fields, batches, dictionaries, decoded: Mutex::default() })
    }

    fn path(&self) -> &Arc<PathBuf> {
        self.region.path()
    }

    fn add_sections(&self, file: usize, sections: &mut Vec<Section>) -> Result<()> {
        let (mut rows_before, mut end) = (0_u64, 0);
        for (index, batch) in self.batches.iter().enumerate() {
            let here = (batch.message.body_offset + batch.message.body_bytes).max(end);
            let bytes = here - end;
            end = here;
            sections.push(Section { file, section: index as u64, rows: batch.rows, rows_before, bytes });
            rows_before = rows_before.checked_add(batch.rows).ok_or_else(|| {
                damaged(self.path(), "its record batches have an impossible number of rows")
            })?;
        }
        Ok(())
    }

    /// The values of the dictionary `id` that are in force for a record batch.
    fn dictionary(&self, batch: &message::BatchEntry, id: i64) -> Result<Arc<Values>> {
        let in_force = batch.dictionaries.iter().copied().find(|&index| self.dictionaries[index].id == id);
        let Some(index) = in_force else {
            return Err(damaged(self.path(), format!("the dictionary {id} is missing")));
        };
        // Held while decoding, so that workers that want the same dictionary wait for it instead of doing it again.
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, values)) = decoded.iter().find(|(i, _)| *i == index) {
            return Ok(Arc::clone(values));
        }
        let values = Arc::new(self.decode_dictionary(&self.dictionaries[index])?);
        // A replaced dictionary is not wanted for long: its values and its successor's are kept.
        let same = |i: usize| self.dictionaries[i].id == id;
        if decoded.iter().filter(|(i, _)| same(*i)).count() > 1
            && let Some(oldest) = decoded.iter().position(|(i, _)| same(*i))
        {
            decoded.remove(oldest);
        }
        decoded.push((index, Arc::clone(&values)));
        Ok(values)
    }

    fn decode_dictionary(&self, dictionary: &Dictionary) -> Result<Values> {
        let Some(field) = self.fields.iter().find(|f| f.dictionary == Some(dictionary.id)) else {
            return Err(damaged(self.path(), "no column uses a dictionary"));
        };
        let mut all: Option<Values> = None;
        for &message in &dictionary.parts {
            let body = Body::open(&self.region, message, true, None)?;
            let part = read_column(&body, &field.dictionary_values(), 0, body.rows())?;
            match &mut all {
                None => all = Some(part),
                Some(all) => {
                    let joined = append(all, part);
                    joined.ok_or_else(|| damaged(self.path(), "a dictionary changes its type"))?;
                }
            }
        }
        all.ok_or_else(|| damaged(self.path(), "a dictionary is empty"))
    }
}

/// Joins the values of a delta to those that it follows; `None` if they differ in type.
fn append(all: &mut Values, part: Values) -> Option<()> {
    if all.valid.is_some() || part.valid.is_some() {
        let mut valid = all.valid.take().unwrap_or_else(|| vec![true; all.len()]);
        valid.extend(part.valid.clone().unwrap_or_else(|| vec![true; part.len()]));
        all.valid = Some(valid);
    }
    match (&mut all.data, part.data) {
        (Data::Int(all), Data::Int(part)) => all.extend(part),
        (Data::Unsigned(all), Data::Unsigned(part)) => all.extend(part),
        (Data::Float(all), Data::Float(part)) => all.extend(part),
        (Data::Text(all), Data::Text(part)) => part.iter().for_each(|text| all.push(text)),
        _ => return None,
    }
    Some(())
}

struct ArrowParser {
    files: Vec<ArrowFile>,
    ids: IdKind,
    /// Decompressed columns of record batches that take several runs: file, batch, columns.
    inflated: Mutex<Vec<(usize, u64, Arc<Inflated>)>>,
}

impl ArrowParser {
    fn decode(&self, file: &ArrowFile, run: RowRun) -> Result<Vec<Values>> {
        let batch = usize::try_from(run.section).ok().and_then(|index| file.batches.get(index));
        let batch = batch.ok_or_else(|| damaged(file.path(), "there is no such record batch"))?;
        let shared = (batch.rows > RUN_ROWS).then(|| self.shared(run));
        let body = Body::open(&file.region, batch.message, false, shared)?;
        let mut columns = Vec::with_capacity(file.fields.len());
        for field in &file.fields {
            let column = read_column(&body, field, run.start, run.rows)?;
            columns.push(match field.dictionary {
                None => column,
                Some(id) => look_up(file.path(), &column, &*file.dictionary(batch, id)?)?,
            });
        }
        Ok(columns)
    }

    /// The place for the decompressed columns of the batch of `run`, shared by all of its runs.
    fn shared(&self, run: RowRun) -> Arc<Inflated> {
        let mut inflated = self.inflated.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, place)) = inflated.iter().find(|(f, s, _)| (*f, *s) == (run.file, run.section)) {
            return Arc::clone(place);
        }
        if inflated.len() >= INFLATED_MAX {
            inflated.remove(0);
        }
        let place = Arc::new(Inflated::default());
        inflated.push((run.file, run.section, Arc::clone(&place)));
        place
    }
}

impl BlockParser for ArrowParser {
    fn parse(&self, block: Block) -> Result<Batch> {
        let run = RowRun::of_block(&block);
        let file = self.files.get(run.file).ok_or_else(|| Error::Invalid("no such file".to_owned()))?;
        let columns = contain(file.path(), || self.decode(file, run))?;
        let origin =
            Origin { path: file.path(), first_row: block.first_line, input_bytes: block.input_bytes };
        table::batch(&origin, self.ids, &file.chosen.properties, columns)
    }
}

/// Replaces indices by the values of a dictionary.
fn look_up(path: &Arc<PathBuf>, indices: &Values, dictionary: &Values) -> Result<Values> {
    let index_at = |row: usize| match &indices.data {
        Data::Int(values) => usize::try_from(values[row]).ok(),
        Data::Unsigned(values) => usize::try_from(values[row]).ok(),
        Data::Float(_) | Data::Text(_) => None,
    };
    let mut places = Vec::with_capacity(indices.len());
    for row in 0..indices.len() {
        if indices.valid.as_ref().is_some_and(|valid| !valid[row]) {
            places.push(None);
            continue;
        }
        match index_at(row).filter(|&index| index < dictionary.len()) {
            Some(index) if dictionary.valid.as_ref().is_none_or(|valid| valid[index]) => {
                places.push(Some(index));
            }
            Some(_) => places.push(None),
            None => return Err(damaged(path, "an index is not within its dictionary")),
        }
    }
    fn gather<T: Copy + Default>(places: &[Option<usize>], values: &[T]) -> Vec<T> {
        places.iter().map(|place| place.map_or_else(T::default, |index| values[index])).collect()
    }
    let data = match &dictionary.data {
        Data::Int(values) => Data::Int(gather(&places, values)),
        Data::Unsigned(values) => Data::Unsigned(gather(&places, values)),
        Data::Float(values) => Data::Float(gather(&places, values)),
        Data::Text(values) => {
            let mut texts = crate::source::TextColumn::default();
            for place in &places {
                texts.push(place.map_or(b"", |index| values.get(index)));
            }
            Data::Text(texts)
        }
    };
    let valid = places.contains(&None).then(|| places.iter().map(Option::is_some).collect());
    Ok(Values { data, valid })
}
