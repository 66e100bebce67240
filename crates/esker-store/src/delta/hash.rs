//! Hashing: of keys to slots and of vertices to shards.

/// Odd constants with well-mixed bits: the fractional digits of the golden ratio and of the square roots of 3
/// and 5.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const THREE: u64 = 0xbb67_ae85_84ca_a73b;
const FIVE: u64 = 0x3c6e_f372_fe94_f82b;

/// A hash of `key` whose upper and lower halves both depend on all its bits: the xor of the two halves of a
/// 128-bit product. Different seeds give unrelated hashes.
#[inline(always)]
pub(super) fn hash(key: u64, seed: u32) -> u64 {
    let seeded = key ^ THREE.wrapping_add(u64::from(seed).wrapping_mul(FIVE));
    let product = u128::from(seeded) * u128::from(GOLDEN);
    product as u64 ^ (product >> 64) as u64
}

/// The home slot of a hash in a table of `capacity` slots. It ascends with the hash, so copying one table to
/// another reads and writes both sequentially.
#[inline(always)]
pub(super) fn slot(hash: u64, capacity: usize) -> usize {
    (((hash >> 32) * capacity as u64) >> 32) as usize
}

/// The shard of a vertex, of `1 << bits` shards. Unrelated to [`slot`] for all seeds of tables.
#[inline(always)]
pub(super) fn shard(key: u64, bits: u32) -> usize {
    (hash(key, u32::MAX) & ((1 << bits) - 1)) as usize
}
