//! What is written and what comes back: entries, stored entries, receipts.

use uuid::Uuid;

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// Which moment of an operation a record tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before the request leaves. An operation whose last record is an intent is open.
    Intent,
    /// Before the answer is delivered.
    Verdict,
    /// A later change of mind: a late answer, a read-back, a person. What it amends stays.
    Amendment,
}

impl Phase {
    /// The number in the file. Part of the format: never renumber.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Intent => 0,
            Self::Verdict => 1,
            Self::Amendment => 2,
        }
    }

    pub(crate) const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Intent),
            1 => Some(Self::Verdict),
            2 => Some(Self::Amendment),
            _ => None,
        }
    }
}

/// One record as the caller gives it. The ledger adds its place in the chain and reads none of the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The operation this belongs to: one id through all its rounds.
    pub operation: Uuid,
    /// Which moment of the operation this is.
    pub phase: Phase,
    /// When it happened, by the caller's clock: milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The server's name, as shown to people.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The verdict's outcome, if there is a verdict.
    pub outcome: Option<String>,
    /// The verdict's effect, if there is a verdict.
    pub effect: Option<String>,
    /// How the two are known, if there is a verdict.
    pub evidence: Option<String>,
    /// Whether a person has to settle this. The last record of an operation decides: an amendment with `false`
    /// settles it. Pruning leaves unsettled operations alone.
    pub unsettled: bool,
    /// The whole record as JSON. Stored and digested as these bytes.
    pub body: Vec<u8>,
}

impl Entry {
    /// What this entry weighs in a queue or a plan: its variable parts and a flat rate for the rest, in bytes.
    pub(crate) fn weight(&self) -> usize {
        let words = [&self.outcome, &self.effect, &self.evidence];
        let words: usize = words.into_iter().flatten().map(String::len).sum();
        160 + self.server.len() + self.tool.len() + words + self.body.len()
    }
}

/// A record as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    /// Order of commits over all instances that share the file.
    pub position: u64,
    /// Who wrote it.
    pub instance: Uuid,
    /// Its place in that instance's chain, from 1.
    pub sequence: u64,
    /// The digest of the record before it in the chain; zeros for the first.
    pub previous: Digest,
    /// Its own digest, over everything else here.
    pub digest: Digest,
    /// What the caller gave.
    pub entry: Entry,
}

/// Proof that a batch is on disk. Names the batch's last record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The chain it is in.
    pub instance: Uuid,
    /// Its place in that chain.
    pub sequence: u64,
    /// Its digest.
    pub digest: Digest,
}
