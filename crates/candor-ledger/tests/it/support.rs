//! What the tests share: a place of their own, entries, and a plain connection to look behind the ledger's back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_ledger::{Entry, Ledger, OpenOptions, Phase, Reader, StoredEntry};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) struct Place {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("ledger.db");
        Self {
            _folder: folder,
            path,
        }
    }

    pub(crate) fn open(&self) -> Ledger {
        self.open_with(keep_all())
    }

    pub(crate) fn open_with(&self, options: OpenOptions) -> Ledger {
        Ledger::open(&self.path, options).unwrap().ledger
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.path).unwrap()
    }

    pub(crate) fn raw(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    pub(crate) fn count(&self, sql: &str) -> i64 {
        self.raw().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn keep_all() -> OpenOptions {
    // Patience without meaning for the outcome: long, so that a busy machine does not decide a test.
    OpenOptions {
        patience: Duration::from_secs(30),
        retention: None,
        ..OpenOptions::default()
    }
}

pub(crate) fn hasty() -> OpenOptions {
    OpenOptions {
        patience: Duration::from_millis(300),
        ..keep_all()
    }
}

pub(crate) fn intent(operation: Uuid) -> Entry {
    Entry {
        operation,
        phase: Phase::Intent,
        at_ms: 1_000,
        server: "rooms".into(),
        tool: "book_room".into(),
        outcome: None,
        effect: None,
        evidence: None,
        unsettled: false,
        body: br#"{"arguments":{"room":12}}"#.to_vec(),
    }
}

pub(crate) fn verdict(operation: Uuid, outcome: &str) -> Entry {
    Entry {
        phase: Phase::Verdict,
        at_ms: 1_500,
        outcome: Some(outcome.into()),
        effect: Some("unknown".into()),
        evidence: Some("asserted".into()),
        unsettled: outcome == "unknown",
        body: br#"{"result":{"content":[]}}"#.to_vec(),
        ..intent(operation)
    }
}

/// How the gateway would judge what a crash left.
pub(crate) fn lost(open: &StoredEntry) -> Entry {
    Entry {
        evidence: Some("none".into()),
        ..verdict(open.entry.operation, "unknown")
    }
}

pub(crate) fn assert_clean(place: &Path) {
    let report = Reader::open(place).unwrap().verify().unwrap();
    assert!(report.is_clean(), "{report:#?}");
}
