//! Chance that can be had again: a seed, printed, and numbers from it.

use std::time::{SystemTime, UNIX_EPOCH};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Chance(u64);

impl Chance {
    /// From `CANDOR_TEST_SEED`, else from the clock; says which.
    pub(crate) fn new() -> Self {
        let given = std::env::var("CANDOR_TEST_SEED").ok();
        let seed = given.map_or_else(
            || {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                u64::from(since.subsec_nanos()) ^ since.as_secs()
            },
            |given| given.parse().unwrap(),
        );
        println!("CANDOR_TEST_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
