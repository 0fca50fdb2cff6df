//! One walk along one chain: what does not hold, and where first.

use std::collections::VecDeque;
use std::io;

use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use crate::digest::GENESIS;
use crate::entry::{Digest, StoredEntry};
use crate::gap::Gap;
use crate::row::{self, Malformed};
use crate::verify::{ChainFault, ChainReport, What};

/// How many faults of one chain are kept; the rest is counted.
const FAULTS: usize = 100;

/// How many edited records of one chain are held to see whether they only changed places.
const SUSPECTS: usize = 64;

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

/// Why a walk came to no end.
pub(crate) enum Interrupted {
    Sqlite(rusqlite::Error),
    Receiver(io::Error),
}

impl From<rusqlite::Error> for Interrupted {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Walks along the chain of `instance`, whose gaps these are, and gives `receive` every record.
pub(crate) fn chain(
    connection: &Connection,
    instance: Uuid,
    gaps: VecDeque<Gap>,
    receive: &mut dyn FnMut(&StoredEntry) -> io::Result<()>,
) -> Result<ChainReport, Interrupted> {
    let head = head(connection, instance)?;
    let mut walk = Walk::from(instance, head.as_ref(), gaps);
    let sql = format!(
        "SELECT {} FROM record r WHERE r.instance = ?1 ORDER BY r.sequence",
        row::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    for row in statement.query_map([instance.as_bytes()], row::stored)? {
        match row? {
            Ok(record) => {
                receive(&record).map_err(Interrupted::Receiver)?;
                walk.meet(record);
            }
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
    /// What pruning took from within and was not passed yet, in order.
    gaps: VecDeque<Gap>,
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
    fn from(instance: Uuid, head: Option<&Head>, gaps: VecDeque<Gap>) -> Self {
        let (pruned_through, previous) =
            head.map_or((0, GENESIS), |head| (head.pruned_through, head.pruned_digest));
        let report = ChainReport {
            instance,
            entries: 0,
            first: None,
            last: None,
            pruned_through,
            pruned_within: 0,
            faults: Vec::new(),
            more_faults: 0,
        };
        Self {
            report,
            expected: pruned_through + 1,
            previous: Some(previous),
            last: None,
            suspects: Vec::new(),
            gaps,
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

    /// Passes the gaps that begin before this place.
    fn pass_gaps(&mut self, before: u64) {
        while let Some(gap) = self.gaps.pop_front_if(|gap| gap.first < before) {
            if gap.first < self.expected {
                // Over records that are there, or over another gap: nothing that pruning leaves.
                self.blame(gap.first, None, What::Forged);
                continue;
            }
            if gap.first > self.expected {
                let count = gap.first - self.expected;
                self.blame(self.expected, None, What::Missing { count });
                self.previous = None;
            }
            let linked = self.previous.is_none_or(|previous| previous == gap.previous);
            match &self.last {
                None if !linked => self.blame(gap.first, None, What::Forged),
                Some(last) if !linked && last.sound => {
                    let (sequence, operation) = (last.sequence, last.operation);
                    self.blame(sequence, Some(operation), What::Forged);
                }
                _ => {}
            }
            self.report.pruned_within += gap.records();
            self.expected = gap.last + 1;
            self.previous = Some(gap.digest);
            self.last = None;
        }
    }

    fn meet(&mut self, record: StoredEntry) {
        let sequence = record.sequence;
        let operation = Some(record.entry.operation);
        self.pass_gaps(sequence);
        self.report.entries += 1;
        self.report.first.get_or_insert(sequence);
        self.report.last = Some(sequence);
        if sequence < self.expected {
            // Where a checkpoint says that nothing is left: pruned, or never there.
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
        self.pass_gaps(self.expected + 1);
        self.blame(self.expected, row.operation, What::Edited);
        self.expected += 1;
        self.previous = None;
    }

    fn end(mut self, head: Option<&Head>) -> ChainReport {
        self.pass_gaps(u64::MAX);
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

    /// The head must name what came last: a record, or what a checkpoint took.
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
