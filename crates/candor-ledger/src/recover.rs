//! After a crash: what an ended instance left open gets its verdict.

use std::collections::HashMap;
use std::time::Instant;

use uuid::Uuid;

use crate::entry::{Entry, Phase, StoredEntry};
use crate::fault::{Fault, Misuse};
use crate::ledger::Ledger;
use crate::pen::Pen;
use crate::place;
use crate::presence::{self, Life};
use crate::row;

/// What recovery found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Open intents of ended instances: each has its verdict now.
    pub count: u64,
    /// Open intents of living siblings: left alone.
    pub living: u64,
    /// Open intents that can't be read: left as they are, for `verify` to name.
    pub unreadable: u64,
}

impl Ledger {
    /// Gives every open intent of an ended instance the verdict that `judge` finds, in this ledger's own chain.
    ///
    /// All in one transaction that holds the file's write lock from before the first look: of two processes that
    /// start together, one judges and the other finds nothing open. The intents of living siblings, and this
    /// ledger's own, are left alone. Blocks; meant for the start, before calls come. `judge` must not ask this
    /// ledger anything: it is held meanwhile.
    ///
    /// # Errors
    /// A fault of the file, or [`Misuse::Misjudged`] if an answer does not close what was asked; then nothing was
    /// written.
    pub fn recover(&self, mut judge: impl FnMut(&StoredEntry) -> Entry) -> Result<Recovered, Fault> {
        let mut store = self.shared().store();
        let store = store.as_mut().ok_or(Fault::Closed)?;
        let own = store.instance();
        let folder = place::instances(store.place());
        let mut lives = HashMap::new();
        let recovered = store.transact(Some(Instant::now() + self.patience()), |pen| {
            let mut recovered = Recovered::default();
            for (position, instance) in open_intents(pen, own)? {
                let life = lives
                    .entry(instance)
                    .or_insert_with(|| presence::life(&folder, instance));
                if matches!(life, Life::Living) {
                    recovered.living += 1;
                    continue;
                }
                match intent_at(pen, position)? {
                    None => recovered.unreadable += 1,
                    Some(intent) => {
                        let entry = judge(&intent);
                        check(&intent, &entry)?;
                        pen.append(&entry)?;
                        recovered.count += 1;
                    }
                }
            }
            Ok(recovered)
        })?;
        // Only now: until the verdicts are on disk, the locks of the ended say whose they are.
        for (instance, life) in lives {
            clear(instance, life);
        }
        match presence::known(&folder) {
            Ok(known) => known
                .into_iter()
                .filter(|instance| *instance != own)
                .for_each(|instance| clear(instance, presence::life(&folder, instance))),
            Err(error) => tracing::debug!(%error, "the folder of liveness locks can't be listed"),
        }
        Ok(recovered)
    }
}

fn clear(instance: Uuid, life: Life) {
    if let Life::Gone(remains) = life
        && let Err(error) = remains.clear()
    {
        tracing::debug!(%instance, %error, "an ended instance's lock file stays");
    }
}

/// Where the open intents of other instances are. Positions only: their bodies may be large together.
fn open_intents(pen: &Pen<'_>, own: Uuid) -> Result<Vec<(i64, Uuid)>, Fault> {
    let read = || {
        pen.transaction()
            .prepare_cached("SELECT position, instance FROM open WHERE instance <> ?1 ORDER BY position")?
            .query_map([own.as_bytes()], |row| Ok((row.get(0)?, row::id(row, 1)?)))?
            .collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| pen.fault(&error))
}

fn intent_at(pen: &Pen<'_>, position: i64) -> Result<Option<StoredEntry>, Fault> {
    let read = || {
        let sql = format!("SELECT {} FROM record r WHERE r.position = ?1", row::COLUMNS);
        let mut statement = pen.transaction().prepare_cached(&sql)?;
        let mut rows = statement.query_map([position], row::stored)?;
        rows.next().transpose()
    };
    let row = read().map_err(|error| pen.fault(&error))?;
    Ok(row.and_then(Result::ok))
}

fn check(intent: &StoredEntry, answer: &Entry) -> Result<(), Misuse> {
    let asked = intent.entry.operation;
    let intent = answer.phase == Phase::Intent;
    if intent || answer.operation != asked {
        return Err(Misuse::Misjudged {
            asked,
            answered: answer.operation,
            intent,
        });
    }
    Ok(())
}
