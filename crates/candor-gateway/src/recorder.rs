//! Entries of the core into the ledger, and receipts back.

use candor_core::call::crashed::{self, OpenIntent};
use candor_core::judgment::verdict::{Effect, Evidence};
use candor_core::names::{OperationId, UnixMillis};
use candor_core::record::{Entry, Phase, Receipt, Recording};
use candor_ledger::{Appended, Fault, FirstUse, KeyStep, Ledger, OpenFault, Recovered};

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

/// What came of entries with an idempotency key.
#[derive(Debug)]
pub enum Keyed {
    /// They are on disk, or are not.
    Done(Recording),
    /// They are not: this operation has the key, and is recorded.
    Taken(Box<FirstUse>, Recording),
}

impl Recorder {
    /// No record, since the ledger can't be opened. The operator gets the whole fault.
    pub fn not_opened(fault: &OpenFault) -> Self {
        tracing::error!(%fault, "calls are not recorded");
        Self::Unavailable(Obstacle::to_opening(fault).words().to_owned())
    }

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

    /// As [`Recorder::record`], and does with an idempotency key what `step` says, in the same transaction.
    pub async fn record_keyed(self, entries: Vec<Entry>, step: KeyStep) -> Keyed {
        let ledger = match self {
            Self::Ledger(ledger) => ledger,
            Self::Off | Self::Unavailable(_) => return Keyed::Done(self.record(entries).await),
        };
        let appended = ledger
            .append_keyed(entries.into_iter().map(stored).collect(), step)
            .await;
        match appended {
            Ok(Appended::Written(receipt)) => {
                Keyed::Done(Recording::OnDisk(Receipt::asserted_by_ledger(receipt.sequence)))
            }
            Ok(Appended::Taken(first)) => {
                let recording = read_from_ledger(&first);
                Keyed::Taken(first, recording)
            }
            Err(fault) => Keyed::Done(not(&fault)),
        }
    }

    /// Who but this operation has an idempotency key now; `None` also where that can't be read. Blocks.
    pub fn key_holder(&self, scope: &[u8; 32], operation: OperationId) -> Option<(FirstUse, Recording)> {
        let Self::Ledger(ledger) = self else { return None };
        let first = ledger
            .key_holder(scope, operation.uuid())
            .inspect_err(|fault| tracing::warn!(%fault, "an idempotency key can't be looked up"))
            .ok()??;
        let recording = read_from_ledger(&first);
        Some((first, recording))
    }

    /// What became of an operation that has an idempotency key; `None` where it has none. Blocks.
    ///
    /// # Errors
    /// Why it can't be read, as a sentence's end.
    pub fn keyed_operation(&self, operation: OperationId) -> Result<Option<(FirstUse, Recording)>, String> {
        let Self::Ledger(ledger) = self else {
            return Ok(None);
        };
        let first = ledger
            .keyed_operation(operation.uuid())
            .map_err(|fault| fault.to_string())?;
        Ok(first.map(|first| {
            let recording = read_from_ledger(&first);
            (first, recording)
        }))
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

/// Whatever is known of the first use of a key was read from the ledger.
fn read_from_ledger(first: &FirstUse) -> Recording {
    let last = first.last.as_ref().map_or(0, |last| last.sequence);
    Recording::OnDisk(Receipt::asserted_by_ledger(last))
}

fn not(fault: &Fault) -> Recording {
    tracing::warn!(%fault, "a call could not be recorded");
    Recording::Not {
        why: Obstacle::to_writing(fault).words().to_owned(),
    }
}

/// What keeps calls from being recorded, as the model hears it: the kind of it, and nothing about this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    /// No room.
    Full,
    /// Not this user's to write.
    ReadOnly,
    /// Another program holds it.
    Locked,
    /// It can't be read any more.
    Damaged,
    /// A newer program's.
    Newer,
    /// Too much at once.
    Slow,
    /// Moved or removed.
    Gone,
    /// Something else is there.
    NoLedger,
    /// The folder or the file can't be made.
    Place,
    /// Any other refusal.
    Refused,
}

impl Obstacle {
    fn to_writing(fault: &Fault) -> Self {
        match fault {
            Fault::Full { .. } => Self::Full,
            Fault::ReadOnly { .. } => Self::ReadOnly,
            Fault::Locked { .. } => Self::Locked,
            Fault::Corrupt { .. } => Self::Damaged,
            Fault::NewerFormat { .. } => Self::Newer,
            Fault::Backlog { .. } | Fault::Slow { .. } | Fault::Undecided { .. } => Self::Slow,
            Fault::Gone { .. } => Self::Gone,
            Fault::Closed | Fault::Misuse(_) | Fault::Io { .. } => Self::Refused,
        }
    }

    fn to_opening(fault: &OpenFault) -> Self {
        match fault {
            OpenFault::Full { .. } => Self::Full,
            OpenFault::ReadOnly { .. } => Self::ReadOnly,
            OpenFault::Locked { .. } => Self::Locked,
            OpenFault::Corrupt { .. } => Self::Damaged,
            OpenFault::NewerFormat { .. } => Self::Newer,
            OpenFault::NotALedger { .. } | OpenFault::NotAFile { .. } | OpenFault::ForeignSchema { .. } => {
                Self::NoLedger
            }
            OpenFault::Place { .. } => Self::Place,
            OpenFault::Io { .. } => Self::Refused,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Full => "disk full",
            Self::ReadOnly => "the ledger is not writable",
            Self::Locked => "the ledger is locked by another program",
            Self::Damaged => "the ledger is damaged",
            Self::Newer => "a newer program has taken the ledger over",
            Self::Slow => "the disk does not keep up",
            Self::Gone => "the ledger's file was moved away",
            Self::NoLedger => "something else is in the ledger's place",
            Self::Place => "the ledger's file can't be made or opened",
            Self::Refused => "the ledger does not take it",
        }
    }
}

/// An entry of the core as the ledger takes it.
pub fn stored(entry: Entry) -> candor_ledger::Entry {
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

/// Does what was learnt later yield to what stands? A person's word yields to nothing but another one; and where a look
/// showed that it was done, the server's mere word, or none, makes it no less so. (That it was *not* done may have been
/// seen too early, so a later success stands over that, and is looked at again.)
pub fn yields(standing: &candor_ledger::Entry, later: &candor_ledger::Entry) -> bool {
    let is = |entry: &candor_ledger::Entry, word: Evidence| entry.evidence.as_deref() == Some(word.as_str());
    if is(standing, Evidence::Operator) {
        return !is(later, Evidence::Operator);
    }
    is(standing, Evidence::ReadBack)
        && standing.effect.as_deref() == Some(Effect::Applied.as_str())
        && (is(later, Evidence::Asserted) || is(later, Evidence::None))
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_a_persons_word_stands_over_a_persons_and_a_mere_word_over_no_look() {
        let entry = |evidence: Evidence, effect: Effect| candor_ledger::Entry {
            operation: uuid::Uuid::nil(),
            phase: candor_ledger::Phase::Amendment,
            at_ms: 0,
            server: String::new(),
            tool: String::new(),
            outcome: None,
            effect: Some(effect.to_string()),
            evidence: Some(evidence.to_string()),
            unsettled: false,
            body: Vec::new(),
        };
        let (done, undone) = (Effect::Applied, Effect::NotApplied);
        for (standing, later, expected) in [
            ((Evidence::Operator, undone), Evidence::ReadBack, true),
            ((Evidence::Operator, undone), Evidence::Declared, true),
            ((Evidence::Operator, done), Evidence::Operator, false),
            ((Evidence::ReadBack, done), Evidence::Asserted, true),
            ((Evidence::ReadBack, done), Evidence::None, true),
            ((Evidence::ReadBack, done), Evidence::Declared, false),
            ((Evidence::ReadBack, undone), Evidence::Asserted, false),
            ((Evidence::ReadBack, done), Evidence::ReadBack, false),
            ((Evidence::None, Effect::Unknown), Evidence::Asserted, false),
        ] {
            let stands = entry(standing.0, standing.1);
            assert_eq!(
                yields(&stands, &entry(later, done)),
                expected,
                "{standing:?} {later:?}"
            );
        }
    }

    #[test]
    fn what_keeps_a_ledger_from_being_opened_is_told_by_its_kind_and_without_a_path() {
        let place = PathBuf::from("/home/ada/ledger.sqlite");
        let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let faults = [
            OpenFault::Full { place: place.clone() },
            OpenFault::ReadOnly { place: place.clone() },
            OpenFault::Locked {
                place: place.clone(),
                waited: Duration::from_secs(2),
            },
            OpenFault::Corrupt {
                place: place.clone(),
                detail: "malformed /home/ada".to_owned(),
            },
            OpenFault::NotAFile {
                place: place.clone(),
                found: "a device",
            },
            OpenFault::Place {
                place: place.clone(),
                source,
            },
            OpenFault::Io {
                place,
                detail: "disk I/O error at /home/ada".to_owned(),
            },
        ];
        let told = faults.map(|fault| match Recorder::not_opened(&fault) {
            Recorder::Unavailable(why) => why,
            other => panic!("{fault}: {other:?}"),
        });
        for (at, why) in told.iter().enumerate() {
            assert!(!why.contains('/') && !why.contains("ada"), "{why}");
            assert!(
                !told[..at].contains(why),
                "two kinds of fault are told alike: {why}"
            );
        }
        let written = Fault::Full {
            place: PathBuf::from("/home/ada/ledger.sqlite"),
        };
        let Recording::Not { why } = not(&written) else {
            panic!("it was not recorded")
        };
        assert_eq!(why, told[0], "the same obstacle has the same words at any time");
    }
}
