//! Long texts that many rows share: a file of a few megabytes can stand for terabytes of them.
//!
//! A dictionary holds a text once, and each row its code. What the texts of a run of rows take is counted
//! before they are copied; Parquet is decoded as codes where that could be much. The columns of an import
//! hold whole texts, so too much of them is refused.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{AnyDictionaryArray, Array, BinaryArray};

/// The texts of a run may take this much uncounted.
pub(super) const FREE_BYTES: u64 = 1 << 24;
/// All counted texts may take this much, whatever the size of the file.
const ALL_BYTES_MIN: u64 = 1 << 32;
/// And this many times the size of the file.
const EXPANSION_MAX: u64 = 1 << 10;

/// What the texts that many rows share may take.
#[derive(Debug)]
pub(super) struct SharedTexts {
    /// In one run.
    run_bytes_max: AtomicU64,
    /// In all runs together, which bounds the time.
    all_bytes_max: u64,
    all_bytes: AtomicU64,
}

impl SharedTexts {
    /// For files of `file_bytes` in total, without a limit on the memory.
    pub(super) fn new(file_bytes: u64) -> Self {
        let all_bytes_max = file_bytes.saturating_mul(EXPANSION_MAX).max(ALL_BYTES_MIN);
        Self { run_bytes_max: AtomicU64::new(u64::MAX), all_bytes_max, all_bytes: AtomicU64::new(0) }
    }

    /// Limits the texts of a run.
    pub(super) fn limit(&self, run_bytes: u64) {
        self.run_bytes_max.store(run_bytes.max(FREE_BYTES), Ordering::Relaxed);
    }

    /// Counts the texts of the rows of a column that comes as codes and a dictionary, whose texts are
    /// `texts`. The error is a reason.
    pub(super) fn check(&self, texts: &BinaryArray, coded: &dyn AnyDictionaryArray) -> Result<(), String> {
        let (bytes, longest) = texts_bytes(texts, coded);
        let run_bytes_max = self.run_bytes_max.load(Ordering::Relaxed);
        if bytes > run_bytes_max {
            return Err(format!(
                "a text of {longest} bytes and others that many rows share take {bytes} bytes in these rows, but reading may take \
                 {run_bytes_max}: leave the column out, or raise the memory limit"
            ));
        }
        let all_bytes = self.all_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if all_bytes > self.all_bytes_max {
            return Err(format!(
                "a text of {longest} bytes and others that many rows share take {all_bytes} bytes up to here, more than {EXPANSION_MAX} \
                 times the file: leave the column out, or give short texts in their place"
            ));
        }
        Ok(())
    }
}

/// The bytes of the texts of all rows, and of the longest.
fn texts_bytes(texts: &BinaryArray, coded: &dyn AnyDictionaryArray) -> (u64, u64) {
    let length = |code| if texts.is_valid(code) { texts.value_length(code) as u64 } else { 0 };
    let lengths: Vec<u64> = (0..texts.len()).map(length).collect();
    let codes = coded.normalized_keys().into_iter().enumerate();
    let lengths = codes.filter(|&(row, _)| coded.keys().is_valid(row)).map(|(_, code)| lengths[code]);
    lengths.fold((0, 0), |(bytes, longest), length| (bytes + length, longest.max(length)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::{ArrayRef, DictionaryArray, Int32Array};

    use super::*;

    #[test]
    fn texts_that_stand_for_terabytes_are_refused_early() {
        let texts = BinaryArray::from_iter_values([vec![7_u8; 1 << 20], b"short".to_vec()]);
        let keys = Int32Array::from_iter((0..1000).map(|row| (row % 10 != 3).then_some(row % 2)));
        let coded: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(texts.clone())));
        assert_eq!(texts_bytes(&texts, coded.as_any_dictionary()), ((500 << 20) + 400 * 5, 1 << 20));
        let shared = SharedTexts::new(1000);
        let runs = (0..).take_while(|_| shared.check(&texts, coded.as_any_dictionary()).is_ok()).count();
        assert_eq!(runs, 8, "4 GiB in all, for a file of 1000 bytes");
        shared.limit(100 << 20);
        let refused = shared.check(&texts, coded.as_any_dictionary()).unwrap_err();
        assert!(
            refused.contains("a text of 1048576 bytes") && refused.contains("may take 104857600"),
            "{refused}"
        );
    }
}
