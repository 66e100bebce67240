//! GBBS's binary graphs, which its option `-b` reads: little-endian, three words of 64 bits, n, m and the
//! bytes of it all; u64 offsets\[n + 1\] and u32 neighbours\[m\], with weights pairs of u32 and i32. Of a
//! directed graph the same with the in-lists follows, which adds nothing. A symmetric one has each edge at
//! both of its ends.

use esker_format::{Error, Result};

use super::contain::damaged;
use super::gap::{GapFile, reader_of};
use super::region::Region;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one};

/// Bytes before the offsets.
const HEADER_BYTES: u64 = 24;
const OFFSET_BYTES: u64 = 8;
const WEIGHTED_ENTRY_BYTES: u64 = 8;
/// Weights that are looked at.
const SAMPLED_WEIGHTS: u64 = 1 << 12;
/// Sizes of floats that somebody would write as a weight. The bits of each are an integer above 600 million.
const COMMON_FLOATS: std::ops::Range<f32> = 1e-12..1e12;

/// Lists of neighbours in plain words.
pub(crate) static GBBS: InputFormat = InputFormat {
    begins: |head| sizes(head).is_some_and(|sizes| sizes.weighted().is_some()),
    ..InputFormat::new("gbbs-binary", "GBBS binary graph", Choices::Nothing, open)
};

/// What the header states.
struct StatedSizes {
    vertices: u64,
    edges: u64,
    bytes: u64,
}

fn sizes(head: &[u8]) -> Option<StatedSizes> {
    let (words, _) = head.get(..HEADER_BYTES as usize)?.as_chunks::<8>();
    let [vertices, edges, bytes] = [0, 1, 2].map(|place: usize| u64::from_le_bytes(words[place]));
    Some(StatedSizes { vertices, edges, bytes })
}

impl StatedSizes {
    /// Whether edges have weights; `None` if the bytes fit neither way.
    fn weighted(&self) -> Option<bool> {
        let Self { vertices, edges, bytes } = *self;
        let offsets = vertices.checked_add(1)?.checked_mul(8)?.checked_add(HEADER_BYTES)?;
        let with = |entry: u64| offsets.checked_add(edges.checked_mul(entry)?);
        [(4, false), (8, true)]
            .into_iter()
            .find_map(|(entry, weighted)| (with(entry)? == bytes).then_some(weighted))
    }
}

/// Whether the first weights are all bits of common floats, and large as integers.
fn has_floats(region: &Region, vertices: u64, edges: u64) -> Result<bool> {
    let start = HEADER_BYTES + (vertices + 1) * OFFSET_BYTES;
    let entries = region.read_vec(start, (edges.min(SAMPLED_WEIGHTS) * WEIGHTED_ENTRY_BYTES) as usize)?;
    let (pairs, _) = entries.as_chunks::<8>();
    let weights = pairs.iter().map(|pair| i32::from_le_bytes([pair[4], pair[5], pair[6], pair[7]]));
    let mut weights = weights.filter(|&weight| weight != 0).peekable();
    let is_float = |weight: i32| COMMON_FLOATS.contains(&f32::from_bits(weight.cast_unsigned()).abs());
    Ok(weights.peek().is_some() && weights.all(is_float))
}

fn open(inputs: &[Input], _head: InputHead, _options: &ReadOptions) -> Result<OpenedInput> {
    let region = Region::open(one(inputs, GBBS.title)?, &GBBS)?;
    let header = region.read_vec(0, HEADER_BYTES.min(region.bytes()) as usize)?;
    let path = region.path().clone();
    let Some((sizes, weighted)) =
        sizes(&header).and_then(|sizes| sizes.weighted().map(|weighted| (sizes, weighted)))
    else {
        return Err(damaged(
            &path,
            "its first three words are not those of a binary graph of GBBS: n, m, and the bytes of all lists",
        ));
    };
    let StatedSizes { vertices, edges, bytes } = sizes;
    let directed = match region.bytes() {
        all if all == bytes => false,
        all if all.checked_sub(bytes) == Some(bytes) => {
            if region.read_vec(bytes, HEADER_BYTES as usize)? != header {
                return Err(damaged(&path, "the header of its in-lists differs from that of its out-lists"));
            }
            true
        }
        all => {
            return Err(damaged(
                &path,
                format!("its header states {bytes} bytes, or twice as many with in-lists, but it has {all}"),
            ));
        }
    };
    if vertices > u64::from(u32::MAX) {
        return Err(Error::input(
            path.as_path(),
            format!("its ids have 32 bits, but it states {vertices} vertices"),
        ));
    }
    if weighted && has_floats(&region, vertices, edges)? {
        return Err(Error::input(
            path.as_path(),
            "its weights look like floats, which its format does not tell from integers: write them as integers, or \
             as the text of GBBS (adj)",
        ));
    }
    let graph = GapFile { region, header_bytes: HEADER_BYTES, weighted, directed, edges, vertices };
    Ok(OpenedInput::titled(reader_of(graph, &GBBS), inputs, &GBBS))
}
