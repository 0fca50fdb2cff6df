//! Verifying: what a walk over all chains found, and what even a clean one can't promise.

use std::fmt;
use std::io;

use rusqlite::Connection;
use uuid::Uuid;

use crate::entry::StoredEntry;
use crate::fault::ReadFault;
use crate::gap;
use crate::reader::Reader;
use crate::row;
use crate::walk::{self, Interrupted};

/// What a walk over all chains found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// Every chain, in the order their instances began.
    pub chains: Vec<ChainReport>,
    /// Operations that the list of open ones has and the records do not, or the other way round: a crash could be
    /// recovered wrongly.
    pub open_list: Vec<Uuid>,
}

impl Verification {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.open_list.is_empty() && self.chains.iter().all(|chain| chain.faults.is_empty())
    }

    /// Records that were read.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.chains.iter().map(|chain| chain.entries).sum()
    }

    /// What even a clean verification can't promise.
    #[must_use]
    pub const fn limits(&self) -> &'static str {
        "The chains have no key. They show damage, and edits by someone who does not compute the digests again. \
         An unkeyed chain cannot show: a chain that was edited and digested anew to its end, together with its \
         head; records cut from the end of a chain whose head was changed to match; a whole chain removed \
         together with its head; what was never written. Pruned records are gone: only their last digest is held."
    }
}

/// One chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainReport {
    /// The instance that wrote it.
    pub instance: Uuid,
    /// Records read.
    pub entries: u64,
    /// The first record's place, if there is one.
    pub first: Option<u64>,
    /// The last record's place, if there is one.
    pub last: Option<u64>,
    /// Up to where it was pruned; 0 if it never was.
    pub pruned_through: u64,
    /// Records behind that place that were pruned around operations nobody has settled.
    pub pruned_within: u64,
    /// What does not hold, in the order found: the first is the first bad place.
    pub faults: Vec<ChainFault>,
    /// Further faults, counted only.
    pub more_faults: u64,
}

/// One place in a chain that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainFault {
    /// The place in the chain.
    pub sequence: u64,
    /// The operation of the record there, if there is one.
    pub operation: Option<Uuid>,
    /// What is wrong.
    pub what: What,
}

/// What is wrong with a place in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The record is not what was digested.
    Edited,
    /// Records are gone, this one first.
    Missing {
        /// How many.
        count: u64,
    },
    /// The record is intact but stands at another's place.
    Reordered {
        /// Where it was written.
        belongs: u64,
    },
    /// The record agrees with itself but not with the chain around it: it was written anew or put in.
    Forged,
    /// The chain ends before its head says so: records were cut from its end, this one first.
    Cut {
        /// How many.
        count: u64,
    },
    /// The chain's head is gone, so a cut end would not show.
    NoHead,
}

impl fmt::Display for ChainFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}", self.sequence)?;
        if let Some(operation) = self.operation {
            write!(f, " (operation {operation})")?;
        }
        match self.what {
            What::Edited => f.write_str(": edited, it is not what was written"),
            What::Missing { count: 1 } => f.write_str(": missing"),
            What::Missing { count } => write!(f, ": missing, with the {} that followed", count - 1),
            What::Reordered { belongs } => write!(f, ": reordered, it was written as record {belongs}"),
            What::Forged => f.write_str(": forged, it does not fit the records around it"),
            What::Cut { count: 1 } => f.write_str(": cut from the end"),
            What::Cut { count } => write!(f, ": cut from the end, with the {} that followed", count - 1),
            What::NoHead => f.write_str(": the chain's head is missing, a cut end would not show"),
        }
    }
}

/// Why a walk over the records had no end.
#[derive(Debug, thiserror::Error)]
pub enum WalkFault {
    /// The file.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// Whoever was given the records.
    #[error(transparent)]
    Receiver(#[from] io::Error),
}

impl Reader {
    /// Computes every chain again. Reads the whole ledger, in one snapshot, a record at a time.
    ///
    /// # Errors
    /// A fault of the file: pages that SQLite itself can't read. What the records say wrongly is in the report.
    pub fn verify(&self) -> Result<Verification, ReadFault> {
        match self.walk(|_| Ok(())) {
            Ok(verification) => Ok(verification),
            Err(WalkFault::Read(fault)) => Err(fault),
            Err(WalkFault::Receiver(error)) => Err(ReadFault::Io {
                place: self.place().to_owned(),
                detail: error.to_string(),
            }),
        }
    }

    /// As [`Reader::verify`], and gives `receive` each record on the way, chain by chain, also those that do not hold.
    /// A row that is no record at all is not given: it is in the report.
    ///
    /// # Errors
    /// A fault of the file, or the first error of `receive`, which ends the walk.
    pub fn walk(
        &self,
        mut receive: impl FnMut(&StoredEntry) -> io::Result<()>,
    ) -> Result<Verification, WalkFault> {
        let Some(connection) = self.connection() else {
            return Ok(Verification::default());
        };
        let fault = |error: rusqlite::Error| self.fault(&error);
        let snapshot = connection.unchecked_transaction().map_err(fault)?;
        let mut gaps = gap::all(&snapshot).map_err(fault)?.into_iter().peekable();
        let mut chains = Vec::new();
        for instance in instances(&snapshot).map_err(fault)? {
            // Both come in the order of instances.
            while gaps.next_if(|gap| gap.instance < instance).is_some() {}
            let own = std::iter::from_fn(|| gaps.next_if(|gap| gap.instance == instance)).collect();
            let report =
                walk::chain(&snapshot, instance, own, &mut receive).map_err(|error| match error {
                    Interrupted::Sqlite(error) => fault(error).into(),
                    Interrupted::Receiver(error) => WalkFault::Receiver(error),
                })?;
            chains.push(report);
        }
        let open_list = open_list(&snapshot).map_err(fault)?;
        Ok(Verification { chains, open_list })
    }
}

fn instances(connection: &Connection) -> rusqlite::Result<Vec<Uuid>> {
    connection
        .prepare("SELECT instance FROM record UNION SELECT instance FROM chain ORDER BY 1")?
        .query_map([], |row| row::id(row, 0))?
        .collect()
}

/// Compares the list of open operations with the records.
fn open_list(connection: &Connection) -> rusqlite::Result<Vec<Uuid>> {
    connection
        .prepare(
            "WITH last AS (SELECT operation, max(position) AS position FROM record GROUP BY operation),
                  left_open AS (SELECT last.operation, r.instance, r.position FROM last
                                JOIN record r ON r.position = last.position WHERE r.phase = 0)
             SELECT operation FROM (SELECT * FROM left_open EXCEPT SELECT operation, instance, position FROM open)
             UNION
             SELECT operation FROM (SELECT operation, instance, position FROM open EXCEPT SELECT * FROM left_open)
             LIMIT 100",
        )?
        .query_map([], |row| row::id(row, 0))?
        .collect()
}
