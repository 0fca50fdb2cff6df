//! What can go wrong, sorted by who has to act.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;
use uuid::Uuid;

use crate::format::Format;

/// Why a batch has no receipt.
///
/// Every variant but [`Fault::Undecided`] means that the batch is not in the ledger and will not appear there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The caller asked for something that makes no record.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// This ledger was closed, or its writer has ended.
    #[error("the ledger is closed: nothing more can be written through it")]
    Closed,
    /// More is waiting to be written than the queue may hold.
    #[error(
        "the ledger's queue is full ({kib} KiB wait): nothing was written. The disk is slower than the calls"
    )]
    Backlog {
        /// What the queue holds at most, in KiB.
        kib: u32,
    },
    /// Another program held the file's write lock all the time.
    #[error(
        "the ledger {place} stayed locked by another program for {waited:.1?}: nothing was written. \
         End the program that keeps a write transaction open there"
    )]
    Locked {
        /// The file.
        place: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// A newer program has taken the file over since it was opened.
    #[error(
        "the ledger {place} now has format {found}.x of a newer program: nothing was written. Start Candor again"
    )]
    NewerFormat {
        /// The file.
        place: PathBuf,
        /// The major it has now.
        found: u32,
    },
    /// The file was moved away, replaced or removed since it was opened.
    #[error("the ledger {place} was moved or removed while in use: nothing was written. Start Candor again")]
    Gone {
        /// The file's place.
        place: PathBuf,
    },
    /// No room is left for the file.
    #[error("no room for the ledger {place}: nothing was written. Free disk space, or prune the ledger")]
    Full {
        /// The file.
        place: PathBuf,
    },
    /// The file can't be written by this process.
    #[error("the ledger {place} can't be written by this user: nothing was written. Check owner and mode")]
    ReadOnly {
        /// The file.
        place: PathBuf,
    },
    /// The file is damaged.
    #[error(
        "the ledger {place} is damaged ({detail}): nothing was written. Move it aside with its -wal and -shm; \
         a new one is made at the next start"
    )]
    Corrupt {
        /// The file.
        place: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The disk or the system refused.
    #[error("the ledger {place} could not be written ({detail}): nothing was written")]
    Io {
        /// The file.
        place: PathBuf,
        /// What SQLite or the system said.
        detail: String,
    },
    /// The writer was still busy with earlier batches; this one was taken back before it was begun.
    #[error("the disk under the ledger {place} did not keep up for {waited:.1?}: nothing was written")]
    Slow {
        /// The file.
        place: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The batch was begun and no end was heard: it may be in the ledger now, or appear there later, whole or
    /// not at all. A caller that then does not send must append a verdict that says so: it lands behind.
    #[error(
        "the ledger {place} did not confirm a write within {waited:.1?}: the batch may or may not appear in it, whole"
    )]
    Undecided {
        /// The file.
        place: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
}

impl Fault {
    /// Whether it is certain that the batch is not in the ledger and will not appear there.
    #[must_use]
    pub const fn never_written(&self) -> bool {
        !matches!(self, Self::Undecided { .. })
    }

    pub(crate) fn from_sqlite(place: &Path, waited: Duration, error: &rusqlite::Error) -> Self {
        let place = place.to_owned();
        match Trouble::of(error) {
            Trouble::Locked => Self::Locked { place, waited },
            Trouble::Full => Self::Full { place },
            Trouble::ReadOnly => Self::ReadOnly { place },
            Trouble::Corrupt(detail) => Self::Corrupt { place, detail },
            Trouble::Other(detail) => Self::Io { place, detail },
        }
    }
}

/// What a caller asked for that makes no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    /// A batch without entries has no receipt.
    #[error("an empty batch makes no record: give at least one entry")]
    EmptyBatch,
    /// A batch over the bound.
    #[error(
        "a batch of {entries} entries and {kib} KiB is over the bound of {max_entries} entries and {max_kib} KiB: \
         cut bodies or split the batch"
    )]
    BatchTooLarge {
        /// Entries given.
        entries: usize,
        /// Their weight.
        kib: u32,
        /// Entries allowed.
        max_entries: usize,
        /// Weight allowed.
        max_kib: u32,
    },
    /// While recovering, an open intent was answered with a record that does not close it.
    #[error("open operation {asked} was answered with {} of {answered}: a verdict or amendment of it was expected", if *.intent { "an intent" } else { "a record" })]
    Misjudged {
        /// The operation that was open.
        asked: Uuid,
        /// The operation of the answer.
        answered: Uuid,
        /// Whether the answer was itself an intent.
        intent: bool,
    },
}

/// Why a ledger could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {
    /// The place is not usable: the folder or file can't be made or opened.
    #[error("the ledger can't be kept at {place}: {source}. Choose another place with --ledger")]
    Place {
        /// The file or folder concerned.
        place: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The place is taken by something that is no regular file, which was left as it is.
    #[error(
        "the ledger can't be kept at {place}: {found} is there, and a regular file or nothing was expected. \
         Choose another place with --ledger; a server is wrapped without a record with --no-ledger"
    )]
    NotAFile {
        /// The place.
        place: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// The file is there, but this process may not write it.
    #[error(
        "the ledger {place} can't be written by this user. Check owner and mode, or choose another with --ledger"
    )]
    ReadOnly {
        /// The file.
        place: PathBuf,
    },
    /// The file is something else, and was left as it is.
    #[error(
        "{place} is not a ledger of Candor ({found}); it was left as it is. Choose another place with --ledger"
    )]
    NotALedger {
        /// The file.
        place: PathBuf,
        /// What it seems to be.
        found: &'static str,
    },
    /// The file is a ledger of this format, but its tables were made by something else.
    #[error(
        "the ledger {place} was made by a different migration {number} than this program's; it was left as it is"
    )]
    ForeignSchema {
        /// The file.
        place: PathBuf,
        /// The migration whose checksum differs.
        number: u32,
    },
    /// The file and also the one set aside for this program are of newer programs.
    #[error(
        "{place} and the file kept beside it for format {ours} were both made by newer programs. Update Candor"
    )]
    NewerFormat {
        /// The file asked for.
        place: PathBuf,
        /// What this program writes.
        ours: Format,
    },
    /// The file is damaged.
    #[error(
        "the ledger {place} is damaged ({detail}). Move it aside with its -wal and -shm; a new one is then made. \
         `sqlite3 FILE .recover` may save what is left"
    )]
    Corrupt {
        /// The file.
        place: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// Another program held the file all the time.
    #[error(
        "the ledger {place} stayed locked by another program for {waited:.1?}. End what keeps a transaction open there"
    )]
    Locked {
        /// The file.
        place: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// No room is left.
    #[error("no room for the ledger {place}. Free disk space, or choose another place with --ledger")]
    Full {
        /// The file.
        place: PathBuf,
    },
    /// The disk or the system refused.
    #[error("the ledger {place} could not be opened: {detail}")]
    Io {
        /// The file.
        place: PathBuf,
        /// What SQLite or the system said.
        detail: String,
    },
}

impl OpenFault {
    pub(crate) fn from_sqlite(place: &Path, waited: Duration, error: &rusqlite::Error) -> Self {
        let place = place.to_owned();
        match Trouble::of(error) {
            Trouble::Locked => Self::Locked { place, waited },
            Trouble::Full => Self::Full { place },
            Trouble::ReadOnly => Self::ReadOnly { place },
            Trouble::Corrupt(detail) => Self::Corrupt { place, detail },
            Trouble::Other(detail) => Self::Io { place, detail },
        }
    }
}

/// Why a question to the ledger has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadFault {
    /// Not the end of an operation id.
    #[error("{given:?} is not the end of an operation id: give at least {least} of its last hex digits")]
    NotASuffix {
        /// What was given.
        given: String,
        /// How many digits are needed.
        least: usize,
    },
    /// A record can't be read as one. `verify` names it.
    #[error(
        "record {position} of the ledger {place} can't be read ({detail}): `candor ledger verify` says more"
    )]
    Malformed {
        /// The file.
        place: PathBuf,
        /// The record.
        position: i64,
        /// Which column, and why.
        detail: String,
    },
    /// Another program held the file all the time.
    #[error(
        "the ledger {place} is locked by another program. End what keeps an exclusive transaction open there"
    )]
    Locked {
        /// The file.
        place: PathBuf,
    },
    /// The file is damaged.
    #[error("the ledger {place} is damaged ({detail}). `sqlite3 FILE .recover` may save what is left")]
    Corrupt {
        /// The file.
        place: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The disk or the system refused.
    #[error("the ledger {place} could not be read: {detail}")]
    Io {
        /// The file.
        place: PathBuf,
        /// What SQLite or the system said.
        detail: String,
    },
}

impl ReadFault {
    pub(crate) fn from_sqlite(place: &Path, error: &rusqlite::Error) -> Self {
        let place = place.to_owned();
        match Trouble::of(error) {
            Trouble::Locked => Self::Locked { place },
            Trouble::Corrupt(detail) => Self::Corrupt { place, detail },
            Trouble::Full => Self::Io {
                place,
                detail: "no room on the disk".into(),
            },
            Trouble::ReadOnly => Self::Io {
                place,
                detail: "no permission".into(),
            },
            Trouble::Other(detail) => Self::Io { place, detail },
        }
    }
}

/// SQLite's errors, by who has to act.
enum Trouble {
    Locked,
    Full,
    ReadOnly,
    Corrupt(String),
    Other(String),
}

impl Trouble {
    fn of(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(error.to_string()),
            Some(ErrorCode::CannotOpen) => Self::Other(
                "it can't be opened, or its -wal and -shm can't be made beside it: check owner and mode of file and folder".into(),
            ),
            _ => Self::Other(error.to_string()),
        }
    }
}
