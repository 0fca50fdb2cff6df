//! The one thread that writes, and how callers wait for it.
//!
//! Whatever waits when the thread is free goes into one transaction, up to [`GROUP`] batches; it never lingers for
//! more. A batch is claimed either by the writer, which begins it, or by a caller who gives up, which withdraws it:
//! exactly one of them wins, so a caller always knows whether it still may appear.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::entry::{Entry, Phase, Receipt};
use crate::fault::Fault;
use crate::keys::{self, Appended, KeyStep};
use crate::ledger::{Yields, now_ms};
use crate::pen::Pen;
use crate::prune::{self, Retention};
use crate::store::Store;

/// Batches in one transaction, at most.
const GROUP: usize = 64;

/// What the writer has done since the ledger was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Transactions committed, each with one sync.
    pub transactions: u64,
    /// Batches in them.
    pub batches: u64,
    /// Records in them.
    pub entries: u64,
    /// Batches given without waiting that could not be written; each was also logged.
    pub lost: u64,
    /// Records that the writer pruned after opening.
    pub pruned: u64,
    /// Batches given and neither written nor refused yet.
    pub waiting: u64,
}

/// What the writer and the ledger's handles share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) place: PathBuf,
    /// `None` once the ledger is closed.
    store: Mutex<Option<Store>>,
    yields: Option<Yields>,
    /// What kept the writer from its last try, for a caller who must say why it gave up.
    obstacle: Mutex<Option<Fault>>,
    transactions: AtomicU64,
    batches: AtomicU64,
    entries: AtomicU64,
    lost: AtomicU64,
    pruned: AtomicU64,
    waiting: AtomicU64,
}

impl Shared {
    pub(crate) fn new(store: Store, yields: Option<Yields>) -> Self {
        Self {
            place: store.place().to_owned(),
            store: Mutex::new(Some(store)),
            yields,
            obstacle: Mutex::new(None),
            transactions: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            entries: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            pruned: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
        }
    }

    /// The store. A panic in a caller's closure rolled its transaction back, so a poisoned lock is still sound.
    pub(crate) fn store(&self) -> MutexGuard<'_, Option<Store>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            transactions: self.transactions.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            entries: self.entries.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
            pruned: self.pruned.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }

    /// A batch is about to be given to the writer.
    pub(crate) fn one_more_waits(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    fn one_less_waits(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Why a batch that was withdrawn after `waited` could not be begun.
    pub(crate) fn obstacle(&self, waited: Duration) -> Fault {
        let place = self.place.clone();
        match &*self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Fault::Locked { .. }) => Fault::Locked { place, waited },
            Some(_) | None => Fault::Slow { place, waited },
        }
    }

    fn note(&self, obstacle: Option<Fault>) {
        *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = obstacle;
    }
}

/// Who has a batch: still the queue, the writer, or its caller again.
#[derive(Debug)]
pub(crate) struct Claim(AtomicU8);

impl Claim {
    const QUEUED: u8 = 0;
    const BEGUN: u8 = 1;
    const WITHDRAWN: u8 = 2;

    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(Self::QUEUED))
    }

    /// For the caller: true if the batch will never be written.
    pub(crate) fn withdraw(&self) -> bool {
        self.change(Self::QUEUED, Self::WITHDRAWN)
    }

    /// For the writer: true if the batch may go into the transaction.
    fn begin(&self) -> bool {
        self.change(Self::QUEUED, Self::BEGUN)
    }

    /// For the writer: the transaction was rolled back and another try follows.
    fn requeue(&self) {
        self.change(Self::BEGUN, Self::QUEUED);
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

/// One batch on its way.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) batch: Vec<Entry>,
    /// What it does with an idempotency key.
    pub(crate) key: Option<KeyStep>,
    pub(crate) claim: Arc<Claim>,
    /// Since when it waits, and until when the writer tries.
    pub(crate) since: Instant,
    pub(crate) until: Instant,
    /// Nobody waits for a batch that was given with `append_later`.
    pub(crate) reply: Option<oneshot::Sender<Result<Appended, Fault>>>,
    /// Its room in the queue, free again when the job is dropped.
    pub(crate) _room: OwnedSemaphorePermit,
}

/// What the writer is asked.
#[derive(Debug)]
pub(crate) enum Order {
    Write(Job),
    Close(oneshot::Sender<()>),
}

/// Pruning, which the writer does when nothing else waits: a start must not wait for a month's records to go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chore {
    pub(crate) retention: Retention,
    pub(crate) patience: Duration,
}

/// The writer's life: until it is told to close, or until nobody is left who could ask.
pub(crate) fn run(shared: &Shared, orders: &Receiver<Order>, mut chore: Option<Chore>) {
    let mut closing = None;
    while closing.is_none() {
        let first = match orders.try_recv() {
            Ok(order) => order,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                if let Some(todo) = chore {
                    chore = prune_some(shared, &todo).then_some(todo);
                    continue;
                }
                let Ok(order) = orders.recv() else { break };
                order
            }
        };
        let group;
        (group, closing) = gather(first, orders);
        write_group(shared, group);
    }
    let store = shared.store().take();
    if let Some(store) = store {
        store.close();
    }
    if let Some(closed) = closing {
        // A closer that no longer waits has its answer in the missing lock file.
        let _ = closed.send(());
    }
}

/// One transaction's worth of pruning; true if more may be left.
fn prune_some(shared: &Shared, chore: &Chore) -> bool {
    let mut store = shared.store();
    let Some(store) = store.as_mut() else { return false };
    let done = prune::of_store(store, &chore.retention, now_ms(), prune::STEP)
        .and_then(|plan| prune::execute(store, &plan, chore.patience));
    match done {
        Ok(pruned) if pruned.records > 0 || pruned.keys > 0 => {
            shared.pruned.fetch_add(pruned.records, Ordering::Relaxed);
            true
        }
        Ok(pruned) => {
            let records = shared.pruned.load(Ordering::Relaxed);
            if records > 0 || !pruned.held.is_empty() {
                tracing::info!(records, held = pruned.held.len(), "old records were pruned");
            }
            for held in pruned.held {
                tracing::debug!(operation = %held.operation, because = ?held.because, "kept though it is old");
            }
            false
        }
        Err(fault) => {
            tracing::warn!(%fault, "old records could not be pruned; the next start tries again");
            false
        }
    }
}

/// Takes what waits already, in order; a closing ends it.
fn gather(first: Order, orders: &Receiver<Order>) -> (Vec<Job>, Option<oneshot::Sender<()>>) {
    let mut group = Vec::new();
    let mut next = Ok(first);
    loop {
        match next {
            Ok(Order::Write(job)) => group.push(job),
            Ok(Order::Close(closed)) => return (group, Some(closed)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return (group, None),
        }
        if group.len() == GROUP {
            return (group, None);
        }
        next = orders.try_recv();
    }
}

/// Tries until every job of the group has its end.
fn write_group(shared: &Shared, mut group: Vec<Job>) {
    while !group.is_empty() {
        match try_group(shared, &group) {
            Ok(receipts) => {
                shared.note(None);
                for (job, receipt) in group.drain(..).zip(receipts) {
                    match receipt {
                        Some(receipt) => answer(shared, job, Ok(receipt)),
                        // Withdrawn: nobody waits for a receipt.
                        None => shared.one_less_waits(),
                    }
                }
            }
            Err(fault @ Fault::Locked { .. }) => {
                shared.note(Some(fault));
                group = give_up_late(shared, group);
            }
            // One batch that finds no room must not cost the others theirs.
            Err(Fault::Full { .. }) if group.len() > 1 => {
                for job in std::mem::take(&mut group) {
                    job.claim.requeue();
                    write_group(shared, vec![job]);
                }
            }
            Err(fault) => {
                for job in group.drain(..) {
                    answer(shared, job, Err(fault.clone()));
                }
            }
        }
    }
}

/// One transaction with all jobs of the group that were not withdrawn. The receipts are in the group's order.
fn try_group(shared: &Shared, group: &[Job]) -> Result<Vec<Option<Appended>>, Fault> {
    let mut store = shared.store();
    let store = store.as_mut().ok_or(Fault::Closed)?;
    let mut entries = 0;
    let receipts = store.transact(None, |pen| {
        group
            .iter()
            .map(|job| {
                if !job.claim.begin() {
                    return Ok(None);
                }
                if let Some(step) = &job.key
                    && let Some(first) = keys::claim(pen, step, &job.batch)?
                {
                    return Ok(Some(Appended::Taken(Box::new(first))));
                }
                if let Some(standing) = yields_to(pen, shared.yields, &job.batch)? {
                    return Ok(Some(Appended::Written(standing)));
                }
                let mut receipt = None;
                for entry in &job.batch {
                    receipt = Some(pen.append(entry)?);
                    entries += 1;
                }
                if let Some(step) = &job.key {
                    keys::follow(pen, step, &job.batch)?;
                }
                Ok(receipt.map(Appended::Written))
            })
            .collect::<Result<Vec<_>, Fault>>()
    })?;
    let batches = receipts.iter().flatten().count() as u64;
    if batches > 0 {
        shared.transactions.fetch_add(1, Ordering::Relaxed);
        shared.batches.fetch_add(batches, Ordering::Relaxed);
        shared.entries.fetch_add(entries, Ordering::Relaxed);
    }
    Ok(receipts)
}

/// The receipt of what stands, where a batch that amends it is to be left out; what it does with a key is left out too.
fn yields_to(pen: &Pen<'_>, yields: Option<Yields>, batch: &[Entry]) -> Result<Option<Receipt>, Fault> {
    let amendment = batch.last().filter(|entry| entry.phase == Phase::Amendment);
    let (Some(yields), Some(amendment)) = (yields, amendment) else {
        return Ok(None);
    };
    let standing =
        keys::last_of(pen.transaction(), amendment.operation).map_err(|error| pen.fault(&error))?;
    Ok(standing
        .filter(|standing| yields(&standing.entry, amendment))
        .map(|standing| {
            tracing::info!(
                operation = %amendment.operation, outcome = ?amendment.outcome, evidence = ?amendment.evidence,
                stands = ?standing.entry.evidence, "a later word is not recorded: what stands is known better"
            );
            Receipt {
                instance: standing.instance,
                sequence: standing.sequence,
                digest: standing.digest,
            }
        }))
}

/// After a try that found the file locked: ends the jobs whose time is over, keeps the rest for another try.
fn give_up_late(shared: &Shared, group: Vec<Job>) -> Vec<Job> {
    let now = Instant::now();
    let mut kept = Vec::with_capacity(group.len());
    for job in group {
        job.claim.requeue();
        if now < job.until {
            kept.push(job);
        } else {
            let locked = Fault::Locked {
                place: shared.place.clone(),
                waited: now - job.since,
            };
            answer(shared, job, Err(locked));
        }
    }
    kept
}

fn answer(shared: &Shared, job: Job, answer: Result<Appended, Fault>) {
    shared.one_less_waits();
    match job.reply {
        // The caller may have given up in this moment: it then says by itself what is certain.
        Some(reply) => drop(reply.send(answer)),
        None => {
            if let Err(fault) = answer {
                shared.lost.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(%fault, records = job.batch.len(), "records that nobody waited for are lost");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_either_begun_or_withdrawn() {
        let begun = Claim::new();
        assert!(begun.begin());
        assert!(!begun.withdraw(), "it may appear");
        begun.requeue();
        assert!(begun.withdraw(), "the try was rolled back");

        let withdrawn = Claim::new();
        assert!(withdrawn.withdraw());
        withdrawn.requeue();
        assert!(!withdrawn.begin(), "it never appears");
    }
}
