//! What may go, planned first and executed second.
//!
//! Records of settled operations go, oldest first; the digest of the last one taken stays as a checkpoint, so what
//! follows still verifies. An operation is settled when its last record is a verdict or an amendment that is not marked
//! unsettled. One that nobody settles stays at any age, and pruning goes around it: what is taken between two such
//! operations leaves a gap with the digests of both its ends.
//!
//! Pruning does not verify: it goes over no place where records are missing, but an edited record goes like any other.

mod plan;
mod step;

use std::time::Duration;

use uuid::Uuid;

pub(crate) use plan::{of_connection, of_store};
pub(crate) use step::execute;

/// How many records go in one transaction. Other writers wait for it, and their patience is short.
pub(crate) const STEP: u64 = 500;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Operations whose last record is older than this may go.
    pub age: Duration,
    /// How large the records may be together, in bytes of used pages; beyond it the oldest may go at any age. The
    /// file does not shrink: freed pages are used again.
    pub bytes: u64,
}

impl Default for Retention {
    /// 30 days, 1 GiB.
    fn default() -> Self {
        Self {
            age: Duration::from_hours(30 * 24),
            bytes: 1 << 30,
        }
    }
}

/// What pruning would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrunePlan {
    /// What would go.
    pub cuts: Vec<Cut>,
    /// The first record of each operation that is old enough to go and can't.
    pub held: Vec<Held>,
    /// How many idempotency keys would go: those whose operation was settled a day ago or longer.
    pub keys: u64,
    /// The moment the time of these keys is counted to; 0 where none would go.
    pub keys_until_ms: i64,
}

impl PrunePlan {
    /// Whether nothing would go.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty() && self.keys == 0
    }

    /// How many records would go.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.cuts.iter().map(|cut| cut.records).sum()
    }

    /// About how many bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.cuts.iter().map(|cut| cut.bytes).sum()
    }
}

/// Neighbouring records of one chain that would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The chain.
    pub instance: Uuid,
    /// The first record that would go.
    pub from: u64,
    /// The last record that would go.
    pub through: u64,
    /// How many records.
    pub records: u64,
    /// About how many bytes.
    pub bytes: u64,
}

/// An operation that can't be pruned though it is old enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The chain of the record.
    pub instance: Uuid,
    /// The record's place there.
    pub sequence: u64,
    /// Its operation.
    pub operation: Uuid,
    /// The operation's server, by this record.
    pub server: String,
    /// The operation's tool, by this record.
    pub tool: String,
    /// When this record was made, in milliseconds since 1970.
    pub at_ms: i64,
    /// Why it stays.
    pub because: HeldBecause,
}

/// Why an operation can't be pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldBecause {
    /// It has no verdict yet.
    Open,
    /// A person has to settle it.
    Unsettled,
    /// Records before it are missing, so this chain is pruned up to there only: `verify` says more.
    Damaged,
}

/// What pruning did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Records that went.
    pub records: u64,
    /// Chains they went from.
    pub chains: u64,
    /// Idempotency keys that went.
    pub keys: u64,
    /// What stayed though it is old enough.
    pub held: Vec<Held>,
}
