//! Walks every chain and says what does not hold, and where first.

use std::fmt;

use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use crate::digest::GENESIS;
use crate::entry::{Digest, StoredEntry};
use crate::fault::ReadFault;
use crate::reader::Reader;
use crate::row::{self, Malformed};

/// How many faults of one chain are kept; the rest is counted.
const FAULTS: usize = 100;

/// How many edited records of one chain are held to see whether they only changed places.
const SUSPECTS: usize = 64;

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

impl Reader {
    /// Computes every chain again. Reads the whole ledger, in one snapshot, a record at a time.
    ///
    /// # Errors
    /// A fault of the file: pages that SQLite itself can't read. What the records say wrongly is in the report.
    pub fn verify(&self) -> Result<Verification, ReadFault> {
        let Some(connection) = self.connection() else {
            return Ok(Verification::default());
        };
        let fault = |error: rusqlite::Error| self.fault(&error);
        let snapshot = connection.unchecked_transaction().map_err(fault)?;
        let mut chains = Vec::new();
        for instance in instances(&snapshot).map_err(fault)? {
            chains.push(walk(&snapshot, instance).map_err(fault)?);
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

/// The row of the table `chain`.
struct Head {
    sequence: u64,
    digest: Digest,
    pruned_through: u64,
    pruned_digest: Digest,
}

fn head(connection: &Connection, instance: Uuid) -> rusqlite::Result<Option<Head>> {
    connection
        .prepare_cached(
            "SELECT sequence, digest, pruned_through, pruned_digest FROM chain WHERE instance = ?1",
        )?
        .query_row([instance.as_bytes()], |row| {
            Ok(Head {
                sequence: row.get::<_, i64>(0)?.unsigned_abs(),
                digest: row::sum(row, 1)?,
                pruned_through: row.get::<_, i64>(2)?.unsigned_abs(),
                pruned_digest: row::sum(row, 3)?,
            })
        })
        .optional()
}

fn walk(connection: &Connection, instance: Uuid) -> rusqlite::Result<ChainReport> {
    let head = head(connection, instance)?;
    let mut walk = Walk::from(instance, head.as_ref());
    let sql = format!(
        "SELECT {} FROM record r WHERE r.instance = ?1 ORDER BY r.sequence",
        row::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    for row in statement.query_map([instance.as_bytes()], row::stored)? {
        match row? {
            Ok(record) => walk.meet(record),
            Err(malformed) => walk.meet_malformed(&malformed),
        }
    }
    Ok(walk.end(head.as_ref()))
}

/// One walk along one chain.
struct Walk {
    report: ChainReport,
    /// The place that must come next.
    expected: u64,
    /// The digest it must be chained to; `None` behind a gap.
    previous: Option<Digest>,
    /// The record met last.
    last: Option<Met>,
    /// Edited records, with the index of their fault.
    suspects: Vec<(usize, StoredEntry)>,
}

/// What is still needed of a record once it was passed.
struct Met {
    sequence: u64,
    position: u64,
    operation: Uuid,
    digest: Digest,
    sound: bool,
}

impl Walk {
    fn from(instance: Uuid, head: Option<&Head>) -> Self {
        let (pruned_through, previous) =
            head.map_or((0, GENESIS), |head| (head.pruned_through, head.pruned_digest));
        let report = ChainReport {
            instance,
            entries: 0,
            first: None,
            last: None,
            pruned_through,
            faults: Vec::new(),
            more_faults: 0,
        };
        Self {
            report,
            expected: pruned_through + 1,
            previous: Some(previous),
            last: None,
            suspects: Vec::new(),
        }
    }

    fn blame(&mut self, sequence: u64, operation: Option<Uuid>, what: What) {
        if self.report.faults.len() < FAULTS {
            self.report.faults.push(ChainFault {
                sequence,
                operation,
                what,
            });
        } else {
            self.report.more_faults += 1;
        }
    }

    fn meet(&mut self, record: StoredEntry) {
        let sequence = record.sequence;
        let operation = Some(record.entry.operation);
        self.report.entries += 1;
        self.report.first.get_or_insert(sequence);
        self.report.last = Some(sequence);
        if sequence < self.expected {
            // Below the checkpoint: pruned, or never there.
            self.blame(sequence, operation, What::Forged);
            return;
        }
        if sequence > self.expected {
            self.blame(
                self.expected,
                None,
                What::Missing {
                    count: sequence - self.expected,
                },
            );
            self.previous = None;
        }
        let sound = record.holds();
        if sound {
            self.check_link(&record);
        } else {
            self.blame(sequence, operation, What::Edited);
        }
        self.expected = sequence + 1;
        self.previous = Some(record.digest);
        self.last = Some(Met {
            sequence,
            position: record.position,
            operation: record.entry.operation,
            digest: record.digest,
            sound,
        });
        if !sound && self.suspects.len() < SUSPECTS && self.report.more_faults == 0 {
            self.suspects.push((self.report.faults.len() - 1, record));
        }
    }

    /// A record that holds must hang on the one before it. Where it does not, that one was replaced by another
    /// that holds as well; if it does not hold, it has its fault already.
    fn check_link(&mut self, record: &StoredEntry) {
        let sequence = record.sequence;
        let operation = Some(record.entry.operation);
        let linked = self.previous.is_none_or(|previous| previous == record.previous);
        match &self.last {
            None if !linked => self.blame(sequence, operation, What::Forged),
            Some(last) if !linked && last.sound => {
                let (sequence, operation) = (last.sequence, last.operation);
                self.blame(sequence, Some(operation), What::Forged);
            }
            Some(last) if linked && last.sound && last.position >= record.position => {
                self.blame(sequence, operation, What::Forged);
            }
            _ => {}
        }
    }

    fn meet_malformed(&mut self, row: &Malformed) {
        self.report.entries += 1;
        self.blame(self.expected, row.operation, What::Edited);
        self.expected += 1;
        self.previous = None;
    }

    fn end(mut self, head: Option<&Head>) -> ChainReport {
        let reached = self.expected - 1;
        match head {
            None => self.blame(reached, None, What::NoHead),
            Some(head) if head.sequence > reached => {
                self.blame(
                    self.expected,
                    None,
                    What::Cut {
                        count: head.sequence - reached,
                    },
                );
            }
            Some(head) if head.sequence < reached => self.blame(head.sequence + 1, None, What::Forged),
            Some(head) => self.check_head(head),
        }
        self.name_reordered();
        self.report
    }

    fn check_head(&mut self, head: &Head) {
        let (digest, operation, sound) = match &self.last {
            Some(last) => (last.digest, Some(last.operation), last.sound),
            None => match self.previous {
                Some(checkpoint) => (checkpoint, None, true),
                None => return,
            },
        };
        if sound && digest != head.digest {
            self.blame(head.sequence, operation, What::Forged);
        }
    }

    /// An edited record that holds at the place of another edited one was not edited but moved.
    fn name_reordered(&mut self) {
        for (index, record) in &self.suspects {
            let belongs = self.suspects.iter().map(|(_, other)| other).find(|other| {
                other.sequence != record.sequence
                    && (record.holds_at(other.sequence, other.position)
                        || record.holds_at(other.sequence, record.position))
            });
            if let (Some(belongs), Some(fault)) = (belongs, self.report.faults.get_mut(*index)) {
                fault.what = What::Reordered {
                    belongs: belongs.sequence,
                };
            }
        }
    }
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
