//! The texts of edge properties during an import: each gets a code when it is met first, and a rank, its code
//! in the database, once all were met.
//!
//! Texts lie in a table while memory allows. A full table is sorted and set aside as a run, and a new one is
//! begun: a text that comes again gets another code then. At the end the runs are merged, and all codes of a
//! text get the same rank. So the number of texts is not limited by memory, but for 4 bytes a code.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use esker_format::{Error, Result};
use esker_graph::{Reservation, Stop};
use esker_layers::layer::TEXTS_MAX;
use parking_lot::Mutex;

use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// What an entry of a table takes beside its text: itself in the table, which is old and new while it grows,
/// and what the allocator adds.
pub(crate) const ENTRY_BYTES: u64 = 112;

/// A table that is set aside takes this much at least, or all texts would be runs of a few.
const STEP_BYTES_MIN: u64 = 256 << 10;

/// Runs of about the same length that are merged to one.
const MERGED_RUNS: usize = 16;

/// Bytes of a run that are read or written at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// The texts of one property, in the order in which threads met them.
pub(crate) struct PropertyTexts {
    name: String,
    work: Workspace,
    /// By how much the table grows.
    step_bytes: u64,
    inner: Mutex<TextTable>,
}

struct TextTable {
    codes: HashMap<Box<[u8]>, u32>,
    used_bytes: u64,
    memory: Reservation,
    /// Number of codes that were given.
    num_codes: u32,
    /// The longest first.
    runs: Vec<TextRun>,
}

/// Texts in ascending order with their codes, and how often they were merged.
struct TextRun {
    level: u32,
    records: Spool<u8>,
}

/// All texts of a property, once they are ranked.
pub(crate) struct RankedTexts {
    /// The texts in order of their ranks.
    pub(crate) texts: SortedTexts,
    /// The rank of each code.
    pub(crate) ranks: Vec<u32>,
    /// For the ranks.
    pub(crate) memory: Reservation,
}

impl PropertyTexts {
    /// No texts yet, of one of `properties` properties.
    pub(crate) fn new(name: &str, properties: usize, work: &Workspace) -> Result<Self> {
        let memory = work.budget.reserve("the texts of a property", 0)?;
        let step_bytes = (work.budget.limit_bytes() / 16 / properties.max(1) as u64).max(STEP_BYTES_MIN);
        let table =
            TextTable { codes: HashMap::new(), used_bytes: 0, memory, num_codes: 0, runs: Vec::new() };
        Ok(Self { name: name.to_owned(), work: work.clone(), step_bytes, inner: Mutex::new(table) })
    }

    /// The code of `text`, new if it is.
    pub(crate) fn code(&self, text: &[u8]) -> Result<u32> {
        let mut table = self.inner.lock();
        if let Some(&code) = table.codes.get(text) {
            return Ok(code);
        }
        let bytes = text.len() as u64 + ENTRY_BYTES;
        self.make_room(&mut table, bytes)?;
        let code = table.num_codes;
        if u64::from(code) >= TEXTS_MAX {
            let name = &self.name;
            return Err(Error::invalid(format!(
                "property {name:?} has more than {TEXTS_MAX} different texts"
            )));
        }
        table.num_codes += 1;
        table.used_bytes += bytes;
        table.codes.insert(text.into(), code);
        Ok(code)
    }

    /// Makes room for an entry. A quarter of the limit stays for others.
    fn make_room(&self, table: &mut TextTable, bytes: u64) -> Result<()> {
        let fits = |table: &TextTable| table.used_bytes + bytes <= table.memory.bytes();
        if fits(table) {
            return Ok(());
        }
        let budget = &self.work.budget;
        let grow_bytes = self.step_bytes.max(bytes);
        let is_plenty = budget.free_bytes() >= budget.limit_bytes() / 4 + grow_bytes;
        if (is_plenty || table.memory.bytes() == 0) && table.memory.try_grow(grow_bytes) {
            return Ok(());
        }
        if !table.codes.is_empty() {
            table.close_run(&self.work)?;
        }
        match fits(table) || table.memory.try_grow(grow_bytes) {
            true => Ok(()),
            false => Err(Error::Stop(Stop::OverBudget {
                what: format!("an import with the different texts of {:?}", self.name),
                needed_bytes: budget.limit_bytes() + grow_bytes,
                budget_bytes: budget.limit_bytes(),
            })),
        }
    }

    /// Memory that [`PropertyTexts::take_ranked`] needs beside the texts.
    pub(crate) fn rank_bytes(&self) -> u64 {
        4 * u64::from(self.inner.lock().num_codes)
    }

    /// Takes out all texts in order of their bytes, and the rank of each code.
    pub(crate) fn take_ranked(&self) -> Result<RankedTexts> {
        let mut table = self.inner.lock();
        let num_codes = table.num_codes as usize;
        let memory = self.work.budget.reserve("the codes of texts", 4 * num_codes as u64)?;
        let mut ranked =
            Ranked { ranks: vec![0; num_codes], texts: SortedTexts::new(&self.work), last: None };
        if table.runs.is_empty() {
            for (text, code) in table.sorted() {
                ranked.push(&text, code)?;
            }
            table.empty();
        } else {
            table.close_run(&self.work)?;
            table.empty();
            merge(&table.runs, &self.work, |text, code| ranked.push(text, code))?;
            table.runs.clear();
        }
        let Ranked { mut texts, ranks, .. } = ranked;
        texts.records.finish()?;
        Ok(RankedTexts { texts, ranks, memory })
    }
}

impl TextTable {
    /// Takes out the texts of the table, in ascending order.
    fn sorted(&mut self) -> Vec<(Box<[u8]>, u32)> {
        self.used_bytes = 0;
        let mut entries: Vec<(Box<[u8]>, u32)> = std::mem::take(&mut self.codes).into_iter().collect();
        entries.sort_unstable();
        entries
    }

    /// Gives back the memory of the table.
    fn empty(&mut self) {
        self.codes = HashMap::new();
        self.used_bytes = 0;
        self.memory.shrink_to(0);
    }

    /// Sets the table aside.
    fn close_run(&mut self, work: &Workspace) -> Result<()> {
        let mut run = TextRun::new(work, 0);
        for (text, code) in self.sorted() {
            run.push(&text, code)?;
        }
        run.records.finish()?;
        self.runs.push(run);
        while let Some(last) = self.runs.len().checked_sub(MERGED_RUNS).map(|first| &self.runs[first..]) {
            let level = last[0].level;
            if last.iter().any(|run| run.level != level) {
                break;
            }
            let mut merged = TextRun::new(work, level + 1);
            merge(last, work, |text, code| merged.push(text, code))?;
            merged.records.finish()?;
            self.runs.truncate(self.runs.len() - MERGED_RUNS);
            self.runs.push(merged);
        }
        Ok(())
    }
}

impl TextRun {
    fn new(work: &Workspace, level: u32) -> Self {
        let keep_free_bytes = work.budget.limit_bytes() / 2;
        Self { level, records: Spool::with_block_bytes(work, keep_free_bytes, BLOCK_BYTES) }
    }

    fn push(&mut self, text: &[u8], code: u32) -> Result<()> {
        self.records.extend(&(text.len() as u32).to_le_bytes())?;
        self.records.extend(&code.to_le_bytes())?;
        self.records.extend(text)
    }
}

/// Calls `take` with the texts of all runs and their codes, in ascending order of the texts.
fn merge(runs: &[TextRun], work: &Workspace, mut take: impl FnMut(&[u8], u32) -> Result<()>) -> Result<()> {
    let mut cursors: Vec<Cursor<'_>> = runs.iter().map(|run| Cursor::new(&run.records)).collect();
    let mut heap = BinaryHeap::new();
    for (at, cursor) in cursors.iter_mut().enumerate() {
        heap.extend(cursor.next_entry()?.map(|(text, code)| Reverse((text, at, code))));
    }
    let mut taken = 0_usize;
    while let Some(Reverse((text, at, code))) = heap.pop() {
        if taken.is_multiple_of(1 << 12) {
            work.check()?;
        }
        taken += 1;
        take(&text, code)?;
        heap.extend(cursors[at].next_entry()?.map(|(text, code)| Reverse((text, at, code))));
    }
    Ok(())
}

/// Reads bytes of a spool in order. Memory: one block.
struct Cursor<'a> {
    records: &'a Spool<u8>,
    block: usize,
    buffer: Vec<u8>,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(records: &'a Spool<u8>) -> Self {
        Self { records, block: 0, buffer: Vec::new(), at: 0 }
    }

    /// Appends the next `len` bytes; `false` at the end.
    fn take(&mut self, len: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        let wanted = bytes.len() + len;
        while bytes.len() < wanted {
            if self.at == self.buffer.len() {
                if self.block == self.records.num_blocks() {
                    return Ok(false);
                }
                self.records.copy_block(self.block, &mut self.buffer)?;
                self.block += 1;
                self.at = 0;
            }
            let here = (wanted - bytes.len()).min(self.buffer.len() - self.at);
            bytes.extend_from_slice(&self.buffer[self.at..self.at + here]);
            self.at += here;
        }
        Ok(true)
    }

    fn number(&mut self) -> Result<Option<u32>> {
        let mut bytes = Vec::with_capacity(4);
        let is_there = self.take(4, &mut bytes)?;
        let number = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        Ok(number.filter(|_| is_there))
    }

    fn text(&mut self, len: u32) -> Result<Option<Box<[u8]>>> {
        let mut text = Vec::with_capacity(len as usize);
        Ok(self.take(len as usize, &mut text)?.then(|| text.into_boxed_slice()))
    }

    fn next_text(&mut self) -> Result<Option<Box<[u8]>>> {
        self.number()?.map_or(Ok(None), |len| self.text(len))
    }

    fn next_entry(&mut self) -> Result<Option<(Box<[u8]>, u32)>> {
        let (Some(len), Some(code)) = (self.number()?, self.number()?) else { return Ok(None) };
        Ok(self.text(len)?.map(|text| (text, code)))
    }
}

/// Distinct texts in ascending order, in memory or in a temporary file.
pub(crate) struct SortedTexts {
    records: Spool<u8>,
    len: usize,
}

impl SortedTexts {
    fn new(work: &Workspace) -> Self {
        let keep_free_bytes = work.budget.limit_bytes() / 16 * 15;
        Self { records: Spool::with_block_bytes(work, keep_free_bytes, BLOCK_BYTES), len: 0 }
    }

    fn push(&mut self, text: &[u8]) -> Result<()> {
        self.records.extend(&(text.len() as u32).to_le_bytes())?;
        self.records.extend(text)?;
        self.len += 1;
        Ok(())
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Calls `visit` with each text, in order.
    ///
    /// # Errors
    /// If a temporary file cannot be read; an error of `visit`.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut cursor = Cursor::new(&self.records);
        while let Some(text) = cursor.next_text()? {
            visit(&text)?;
        }
        Ok(())
    }

    /// The text of a rank. Time: O(n).
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(crate) fn text(&self, rank: usize) -> Result<Option<Box<[u8]>>> {
        let mut cursor = Cursor::new(&self.records);
        for _ in 0..rank {
            cursor.next_text()?;
        }
        cursor.next_text()
    }
}

/// Gives ranks to texts that come in ascending order, those with several codes several times.
struct Ranked {
    ranks: Vec<u32>,
    texts: SortedTexts,
    last: Option<Box<[u8]>>,
}

impl Ranked {
    fn push(&mut self, text: &[u8], code: u32) -> Result<()> {
        if self.last.as_deref() != Some(text) {
            self.texts.push(text)?;
            self.last = Some(text.into());
        }
        self.ranks[code as usize] = self.texts.len as u32 - 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use esker_graph::Run;

    use super::*;

    fn all(texts: &SortedTexts) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        texts
            .for_each(|text| {
                all.push(text.to_vec());
                Ok(())
            })
            .unwrap();
        all
    }

    #[test]
    fn ranks_do_not_depend_on_the_memory() {
        let longest = "x".repeat(1 << 16);
        let text = |i: usize| match i % 10_007 {
            0 => String::new(),
            77 => longest.clone(),
            i => format!("{}text {}", if i % 3 == 0 { "zz" } else { "" }, i * 7919 % 20_000),
        };
        let input: Vec<String> = (0..30_000).map(|i| text(i * 7 + i / 1000)).collect();
        let expected: BTreeSet<&str> = input.iter().map(String::as_str).collect();
        let mut runs_seen = BTreeSet::new();
        for limit in [1 << 20, 4 << 20, 1 << 30] {
            let dir = tempfile::tempdir().unwrap();
            let work = Workspace::new(Arc::new(Run::with_threads(1).unwrap()), limit, dir.path());
            let texts = PropertyTexts::new("t", 1, &work).unwrap();
            let codes: Vec<u32> = input.iter().map(|text| texts.code(text.as_bytes()).unwrap()).collect();
            runs_seen.insert(texts.inner.lock().runs.len());
            let ranked = texts.take_ranked().unwrap();
            let sorted = all(&ranked.texts);
            assert!(sorted.iter().map(Vec::as_slice).eq(expected.iter().map(|text| text.as_bytes())));
            assert_eq!(ranked.texts.len(), sorted.len());
            for (text, code) in input.iter().zip(codes) {
                assert_eq!(sorted[ranked.ranks[code as usize] as usize], text.as_bytes());
            }
            assert_eq!(ranked.texts.text(1).unwrap().as_deref(), Some(&sorted[1][..]));
            assert_eq!(ranked.texts.text(sorted.len()).unwrap(), None);
        }
        assert!(runs_seen.len() > 1 && runs_seen.contains(&0), "{runs_seen:?}");
    }

    #[test]
    fn runs_are_merged_while_there_are_many() {
        let dir = tempfile::tempdir().unwrap();
        let work = Workspace::new(Arc::new(Run::with_threads(1).unwrap()), 1 << 20, dir.path());
        let texts = PropertyTexts::new("t", 1, &work).unwrap();
        let text = |i: u32| format!("{:05}", i.wrapping_mul(7919) % 500);
        for i in 0..5000 {
            texts.code(text(i).as_bytes()).unwrap();
            if i % 50 == 0 {
                texts.inner.lock().close_run(&work).unwrap();
            }
        }
        let levels: Vec<u32> = texts.inner.lock().runs.iter().map(|run| run.level).collect();
        assert_eq!(levels, [vec![1; 6], vec![0; 4]].concat());
        let ranked = texts.take_ranked().unwrap();
        assert_eq!(ranked.texts.len(), 500);
        assert!(all(&ranked.texts).is_sorted());
        assert!(ranked.ranks.len() > 500 && ranked.ranks.iter().all(|&rank| rank < 500));
    }
}
