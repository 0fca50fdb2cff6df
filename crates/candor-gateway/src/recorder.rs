//! Entries of the core into the ledger, and receipts back.

use candor_core::call::crashed::{self, OpenIntent};
use candor_core::names::{OperationId, UnixMillis};
use candor_core::record::{Entry, Phase, Receipt, Recording};
use candor_ledger::{Fault, Ledger, Recovered};

use crate::clock;

/// Where entries go.
#[derive(Debug, Clone)]
pub enum Recorder {
    /// Into a ledger.
    Ledger(Ledger),
    /// Nowhere: the ledger could not be opened, and this is why.
    Unavailable(String),
    /// Nowhere, by the operator's choice (`--no-ledger`).
    Off,
}

impl Recorder {
    /// Is there meant to be a record?
    pub fn is_on(&self) -> bool {
        !matches!(self, Self::Off)
    }

    /// Puts entries on disk as one; resolves when they are durable, or when it is certain that they are not.
    pub async fn record(self, entries: Vec<Entry>) -> Recording {
        match self {
            Self::Off => Recording::Off,
            Self::Unavailable(why) => Recording::Not { why },
            Self::Ledger(ledger) => match ledger.append(entries.into_iter().map(stored).collect()).await {
                Ok(receipt) => Recording::OnDisk(Receipt::asserted_by_ledger(receipt.sequence)),
                Err(fault) => not(&fault),
            },
        }
    }

    /// Queues entries without waiting: for trusted reads and for amendments.
    pub fn record_later(&self, entries: Vec<Entry>) -> Recording {
        match self {
            Self::Off => Recording::Off,
            Self::Unavailable(why) => Recording::Not { why: why.clone() },
            Self::Ledger(ledger) => match ledger.append_later(entries.into_iter().map(stored).collect()) {
                Ok(()) => Recording::Queued,
                Err(fault) => not(&fault),
            },
        }
    }
}

fn not(fault: &Fault) -> Recording {
    tracing::warn!(%fault, "a call could not be recorded");
    // Towards the model no path: what is wrong, and nothing about this machine.
    let why = match fault {
        Fault::Full { .. } => "disk full",
        Fault::ReadOnly { .. } => "the ledger is not writable",
        Fault::Locked { .. } => "the ledger is locked by another program",
        Fault::Corrupt { .. } => "the ledger is damaged",
        Fault::NewerFormat { .. } => "a newer program has taken the ledger over",
        Fault::Backlog { .. } | Fault::Slow { .. } | Fault::Undecided { .. } => "the disk does not keep up",
        Fault::Gone { .. } => "the ledger's file was moved away",
        Fault::Closed | Fault::Misuse(_) | Fault::Io { .. } => "the ledger does not take it",
    };
    Recording::Not { why: why.to_owned() }
}

fn stored(entry: Entry) -> candor_ledger::Entry {
    let concluded = entry.concluded;
    candor_ledger::Entry {
        operation: entry.operation.uuid(),
        phase: match entry.phase {
            Phase::Intent => candor_ledger::Phase::Intent,
            Phase::Verdict => candor_ledger::Phase::Verdict,
            Phase::Amendment => candor_ledger::Phase::Amendment,
        },
        at_ms: entry.at.0,
        server: entry.server.to_string(),
        tool: entry.tool.to_string(),
        outcome: concluded.map(|columns| columns.outcome.to_string()),
        effect: concluded.map(|columns| columns.effect.to_string()),
        evidence: concluded.map(|columns| columns.evidence.to_string()),
        unsettled: concluded.is_some_and(|columns| columns.unsettled),
        body: entry.body.into_bytes(),
    }
}

/// Gives a verdict to every open intent of an instance that is gone.
///
/// # Errors
/// A fault of the ledger; nothing was written then.
pub fn recover(ledger: &Ledger) -> Result<Recovered, Fault> {
    ledger.recover(|intent| {
        stored(crashed::verdict(
            &OpenIntent {
                operation: OperationId::new(intent.entry.operation),
                at: UnixMillis(intent.entry.at_ms),
                server: &intent.entry.server,
                tool: &intent.entry.tool,
                body: &intent.entry.body,
            },
            clock::now(),
        ))
    })
}
