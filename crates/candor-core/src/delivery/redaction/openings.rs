//! A first look at a place in a text: whether any word of a list can start there, told from three bytes.

/// The first three bytes of the words of a list. Two look-ups tell of nearly every place in a text that none of the
/// words starts there, however long the list is; they err only towards a closer look.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Openings {
    /// By its first byte, the second bytes of a word, as bits.
    second: [u64; 256],
    /// By its first byte, the third bytes of a word, as bits.
    third: [u64; 256],
}

impl Openings {
    /// Of no words.
    pub(super) const NONE: Self = Self {
        second: [0; 256],
        third: [0; 256],
    };

    /// Of a list that is known when this is compiled.
    #[expect(
        clippy::panic,
        reason = "it stops the compiler: a word too short would never be found"
    )]
    pub(super) const fn of(words: &[&str]) -> Self {
        let mut openings = Self::NONE;
        let mut left = words;
        while let [word, rest @ ..] = left {
            match word.as_bytes().first_chunk() {
                Some(opening) => openings.add(opening),
                None => panic!("a word of three bytes or more"),
            }
            left = rest;
        }
        openings
    }

    /// Takes in a word that starts like this.
    #[expect(
        clippy::indexing_slicing,
        reason = "a byte is below 256, and `get_mut` is not for constants"
    )]
    pub(super) const fn add(&mut self, opening: &[u8; 3]) {
        let [first, second, third] = *opening;
        self.second[first as usize] |= bit(second);
        self.third[first as usize] |= bit(third);
    }

    /// Whether a word of the list may start a text; if not, none does.
    pub(super) fn may_start(&self, text: &[u8]) -> bool {
        let [first, second, third, ..] = text else {
            return false;
        };
        let has = |sets: &[u64; 256], byte| {
            sets.get(usize::from(*first))
                .is_some_and(|set| set & bit(byte) != 0)
        };
        has(&self.second, *second) && has(&self.third, *third)
    }
}

/// Bytes that are 64 apart share a bit: in text one of the two is mostly a control character or no ASCII.
const fn bit(byte: u8) -> u64 {
    1 << (byte & 63)
}
