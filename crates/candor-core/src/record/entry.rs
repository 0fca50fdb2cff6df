//! One entry of the ledger as the core sees it, and the receipt for it.

use crate::judgment::verdict::Verdict;
use crate::names::{OperationId, ServerName, ToolName, UnixMillis};

/// Which step of an operation an entry records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It is about to be sent (or was refused).
    Intent,
    /// What Candor concluded.
    Verdict,
    /// A later change of mind; the old entry stays.
    Amendment,
}

/// One entry, ready for a ledger: the columns that are searched, and a body of JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The operation.
    pub operation: OperationId,
    /// Which step.
    pub phase: Phase,
    /// When.
    pub at: UnixMillis,
    /// The server.
    pub server: ServerName,
    /// The tool.
    pub tool: ToolName,
    /// Outcome, effect and evidence of a verdict; nothing on an intent.
    pub concluded: Option<Concluded>,
    /// The body, JSON.
    pub body: String,
}

/// The columns of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Concluded {
    /// Was it done?
    pub outcome: crate::judgment::verdict::Outcome,
    /// What changed?
    pub effect: crate::judgment::verdict::Effect,
    /// How is that known?
    pub evidence: crate::judgment::verdict::Evidence,
    /// Does somebody still have to find out?
    pub unsettled: bool,
}

impl Concluded {
    /// The columns of this verdict.
    pub fn of(verdict: &Verdict) -> Self {
        Self {
            outcome: verdict.outcome,
            effect: verdict.effect,
            evidence: verdict.evidence,
            unsettled: verdict.is_unsettled(),
        }
    }
}

/// Proof that a ledger has an entry on disk.
///
/// It is made in one named place only, so that every claim of durability can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    sequence: u64,
}

impl Receipt {
    /// Claims that a ledger has synced the entry of this sequence number. Only a ledger's own answer may be turned
    /// into a receipt.
    pub fn asserted_by_ledger(sequence: u64) -> Self {
        Self { sequence }
    }

    /// The entry's number in its instance's chain.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

/// Whether something is recorded, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recording {
    /// It is on disk.
    OnDisk(Receipt),
    /// It is on its way to disk; trusted reads do not wait for the sync.
    Queued,
    /// It is not recorded.
    Not {
        /// Why ("disk full", "switched off by the operator").
        why: String,
    },
    /// There is no ledger, by the operator's choice.
    Off,
}

impl Recording {
    /// Will the operation be found in the ledger?
    pub fn is_recorded(&self) -> bool {
        matches!(self, Self::OnDisk(_) | Self::Queued)
    }
}
