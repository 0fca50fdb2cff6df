//! The digest that chains one record to the one before it.
//!
//! Every column is covered, the place in the chain and the order of commits included. Variable parts carry their
//! length, so that no two different records give the same bytes. This is part of the format: a change here needs
//! a new major.

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::entry::{Digest, Entry};

/// What the first record of a chain is chained to.
pub(crate) const GENESIS: Digest = [0; 32];

const DOMAIN: &[u8] = b"candor-ledger record 1\0";

/// Where a record hangs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) previous: Digest,
    pub(crate) instance: Uuid,
    pub(crate) sequence: u64,
    pub(crate) position: u64,
}

/// The digest of `entry` at `link`.
pub(crate) fn digest(link: &Link, entry: &Entry) -> Digest {
    let mut hash = Sha256::new();
    hash.update(DOMAIN);
    hash.update(link.previous);
    hash.update(link.instance.as_bytes());
    hash.update(link.sequence.to_be_bytes());
    hash.update(link.position.to_be_bytes());
    hash.update(entry.operation.as_bytes());
    hash.update([entry.phase.code(), u8::from(entry.unsettled)]);
    hash.update(entry.at_ms.to_be_bytes());
    for text in [&entry.server, &entry.tool] {
        part(&mut hash, text.as_bytes());
    }
    for word in [&entry.outcome, &entry.effect, &entry.evidence] {
        match word {
            None => hash.update([0]),
            Some(word) => {
                hash.update([1]);
                part(&mut hash, word.as_bytes());
            }
        }
    }
    part(&mut hash, &entry.body);
    hash.finalize().into()
}

fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Phase;

    fn entry() -> Entry {
        Entry {
            operation: Uuid::from_u128(7),
            phase: Phase::Intent,
            at_ms: 1,
            server: "ab".into(),
            tool: "c".into(),
            outcome: None,
            effect: None,
            evidence: None,
            unsettled: false,
            body: b"{}".to_vec(),
        }
    }

    fn link() -> Link {
        Link {
            previous: GENESIS,
            instance: Uuid::from_u128(1),
            sequence: 1,
            position: 1,
        }
    }

    #[test]
    fn the_digest_is_part_of_the_format() {
        let hex: String = digest(&link(), &entry())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            hex,
            "e68fd50af1f4a54ceccc5706aa9ee8065f81d4eb68021bcf987e596593658104"
        );
    }

    #[test]
    fn moving_a_letter_between_columns_changes_the_digest() {
        let moved = Entry {
            server: "a".into(),
            tool: "bc".into(),
            ..entry()
        };
        assert_ne!(digest(&link(), &entry()), digest(&link(), &moved));
        let empty = Entry {
            outcome: Some(String::new()),
            ..entry()
        };
        assert_ne!(digest(&link(), &entry()), digest(&link(), &empty));
        let shifted = Entry {
            outcome: Some("x".into()),
            ..entry()
        };
        let elsewhere = Entry {
            effect: Some("x".into()),
            ..entry()
        };
        assert_ne!(digest(&link(), &shifted), digest(&link(), &elsewhere));
    }
}
