//! The plan: one snapshot, oldest commit first over all chains. Reads no body.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::{Cut, Held, HeldBecause, PrunePlan, Retention};
use crate::fault::Fault;
use crate::gap;
use crate::keys;
use crate::row;
use crate::store::Store;

/// A record that is not in the plan yet, with the state of its operation. The heap orders by position: oldest commit
/// first, over all chains.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    position: i64,
    instance: Uuid,
    sequence: i64,
    /// Whether the record before it is there or was pruned.
    follows: bool,
    operation: Uuid,
    server: String,
    tool: String,
    at_ms: i64,
    bytes: u64,
    last_phase: i64,
    last_unsettled: bool,
    last_at_ms: i64,
}

impl Next {
    fn held(&self) -> Option<HeldBecause> {
        match (self.follows, self.last_phase, self.last_unsettled) {
            (false, _, _) => Some(HeldBecause::Damaged),
            (true, 0, _) => Some(HeldBecause::Open),
            (true, _, true) => Some(HeldBecause::Unsettled),
            (true, _, false) => None,
        }
    }
}

/// Computes a plan of `most` records at most: of each chain reads only what would go, what is held, and one record more.
pub(crate) fn of_store(
    store: &Store,
    retention: &Retention,
    now_ms: i64,
    most: u64,
) -> Result<PrunePlan, Fault> {
    of_connection(store.connection(), retention, now_ms, most)
        .map_err(|error| Fault::from_sqlite(store.place(), Duration::ZERO, &error))
}

/// As [`of_store`], for whoever only reads.
pub(crate) fn of_connection(
    connection: &Connection,
    retention: &Retention,
    now_ms: i64,
    most: u64,
) -> rusqlite::Result<PrunePlan> {
    // One snapshot, whatever others write meanwhile.
    let snapshot = connection.unchecked_transaction()?;
    let age = i64::try_from(retention.age.as_millis()).unwrap_or(i64::MAX);
    let cutoff = now_ms.saturating_sub(age);
    let keys = keys::over(&snapshot, now_ms)?;
    let keys_until_ms = if keys > 0 { now_ms } else { 0 };
    let excess = used_bytes(&snapshot)?.saturating_sub(retention.bytes);
    let oldest: Option<i64> = snapshot.query_row("SELECT min(at_ms) FROM record", [], |row| row.get(0))?;
    if excess == 0 && oldest.is_none_or(|oldest| oldest >= cutoff) {
        return Ok(PrunePlan {
            keys,
            keys_until_ms,
            ..PrunePlan::default()
        });
    }
    let plan = Planner::new(&snapshot, cutoff, excess)?.plan(most)?;
    Ok(PrunePlan {
        keys,
        keys_until_ms,
        ..plan
    })
}

struct Planner<'c> {
    connection: &'c Connection,
    /// Records older than this go.
    cutoff: i64,
    /// So many bytes go at any age.
    excess: u64,
    /// The gaps: chain and first record, to the last.
    gaps: HashMap<(Uuid, i64), i64>,
    heap: BinaryHeap<Reverse<Next>>,
    plan: PrunePlan,
    /// Of each chain, its last cut in the plan.
    last_cuts: HashMap<Uuid, usize>,
    named: HashSet<Uuid>,
}

impl<'c> Planner<'c> {
    fn new(connection: &'c Connection, cutoff: i64, excess: u64) -> rusqlite::Result<Self> {
        let gaps = gap::all(connection)?;
        let mut planner = Self {
            connection,
            cutoff,
            excess,
            gaps: gaps
                .iter()
                .map(|gap| ((gap.instance, gap.first.cast_signed()), gap.last.cast_signed()))
                .collect(),
            heap: BinaryHeap::new(),
            plan: PrunePlan::default(),
            last_cuts: HashMap::new(),
            named: HashSet::new(),
        };
        for (instance, after) in chains(connection)? {
            planner.look_behind(instance, after)?;
        }
        Ok(planner)
    }

    fn plan(mut self, most: u64) -> rusqlite::Result<PrunePlan> {
        let (mut freed, mut taken) = (0, 0);
        while taken < most
            && let Some(Reverse(record)) = self.heap.pop()
        {
            let too_large = freed < self.excess;
            match record.held() {
                Some(because) if record.at_ms < self.cutoff || too_large => {
                    let (instance, sequence) = (record.instance, record.sequence);
                    self.hold(record, because);
                    // Around what nobody settled, but not over a place where records are missing.
                    if because != HeldBecause::Damaged {
                        self.look_behind(instance, sequence)?;
                    }
                }
                None if record.last_at_ms < self.cutoff || too_large => {
                    freed += record.bytes;
                    taken += 1;
                    self.take(&record);
                    self.look_behind(record.instance, record.sequence)?;
                }
                // Young: so is what follows in its chain, or it is soon enough.
                Some(_) | None => {}
            }
        }
        Ok(self.plan)
    }

    fn hold(&mut self, record: Next, because: HeldBecause) {
        if self.named.insert(record.operation) || because == HeldBecause::Damaged {
            self.plan.held.push(Held {
                instance: record.instance,
                sequence: record.sequence.unsigned_abs(),
                operation: record.operation,
                server: record.server,
                tool: record.tool,
                at_ms: record.at_ms,
                because,
            });
        }
    }

    fn take(&mut self, record: &Next) {
        let sequence = record.sequence.unsigned_abs();
        let last = self.last_cuts.get(&record.instance);
        match last.and_then(|index| self.plan.cuts.get_mut(*index)) {
            Some(cut) if cut.through + 1 == sequence => {
                cut.through = sequence;
                cut.records += 1;
                cut.bytes += record.bytes;
            }
            _ => {
                self.last_cuts.insert(record.instance, self.plan.cuts.len());
                self.plan.cuts.push(Cut {
                    instance: record.instance,
                    from: sequence,
                    through: sequence,
                    records: 1,
                    bytes: record.bytes,
                });
            }
        }
    }

    /// Puts the next record of a chain on the heap.
    fn look_behind(&mut self, instance: Uuid, after: i64) -> rusqlite::Result<()> {
        let next = self
            .connection
            .prepare_cached(NEXT)?
            .query_row(params![instance.as_bytes(), after], |row| {
                let sequence: i64 = row.get(1)?;
                let gone_through = self.gaps.get(&(instance, after + 1)).copied().unwrap_or(after);
                Ok(Next {
                    position: row.get(0)?,
                    instance,
                    sequence,
                    follows: sequence == gone_through + 1,
                    operation: row::id(row, 2)?,
                    at_ms: row.get(3)?,
                    bytes: row.get::<_, i64>(4)?.unsigned_abs(),
                    last_phase: row.get(5)?,
                    last_unsettled: row.get(6)?,
                    last_at_ms: row.get(7)?,
                    server: row.get(8)?,
                    tool: row.get(9)?,
                })
            })
            .optional()?;
        self.heap.extend(next.map(Reverse));
        Ok(())
    }
}

fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok((pages * number("page_size")?).unsigned_abs())
}

fn chains(connection: &Connection) -> rusqlite::Result<Vec<(Uuid, i64)>> {
    connection
        .prepare_cached("SELECT instance, pruned_through FROM chain WHERE sequence > pruned_through")?
        .query_map([], |row| Ok((row::id(row, 0)?, row.get(1)?)))?
        .collect()
}

/// 300 bytes are a record's fixed columns, its four index entries and their share of pages, roughly.
const NEXT: &str = "
    SELECT r.position, r.sequence, r.operation, r.at_ms,
           300 + length(r.server) + length(r.tool) + length(r.body),
           l.phase, l.unsettled, l.at_ms, r.server, r.tool
    FROM record r
    JOIN record l ON l.position = (SELECT max(o.position) FROM record o WHERE o.operation = r.operation)
    WHERE r.instance = ?1 AND r.sequence > ?2
    ORDER BY r.sequence LIMIT 1";
