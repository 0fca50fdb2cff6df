//! The handle: open a ledger, append to it, close it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Semaphore, TryAcquireError, oneshot};
use uuid::Uuid;

use crate::entry::{Digest, Entry, Receipt, StoredEntry};
use crate::fault::{Fault, Misuse, OpenFault};
use crate::format::FORMAT;
use crate::keys::{self, Appended, FirstUse, KeyStep};
use crate::place::{self, Header};
use crate::prune::{self, PrunePlan, Pruned, Retention};
use crate::store::{Attempt, Settings, Store};
use crate::writer::{self, Chore, Claim, Job, Order, Shared, Stats};

/// What may wait to be written, in KiB. A batch takes its weight, at least one.
const QUEUE_KIB: u32 = 64 << 10;
/// The largest batch.
const BATCH_KIB: u32 = 16 << 10;
const BATCH_ENTRIES: usize = 1024;

/// Says of an operation's last record, given first, and a batch's amendment of it, given second, whether the amendment
/// is to be left out. Asked within the transaction that would write it, so no other process comes in between.
pub type Yields = fn(&Entry, &Entry) -> bool;

/// How a ledger is opened.
#[derive(Debug, Clone, Copy)]
pub struct OpenOptions {
    /// How long a caller waits for a receipt, and how long opening waits for other programs.
    pub patience: Duration,
    /// How long the writer tries for records that nobody waits for.
    pub late_patience: Duration,
    /// What is kept. The writer prunes once, after opening, whenever no batch waits. `None` keeps everything.
    pub retention: Option<Retention>,
    /// Which amendments are not written, for what stands (see [`Yields`]). `None` writes them all.
    pub yields: Option<Yields>,
    /// For tests: the file's size limit in pages, as a full disk would be.
    #[doc(hidden)]
    pub max_pages: Option<u32>,
    /// For tests: refuses every write, as a file of another owner would.
    #[doc(hidden)]
    pub query_only: bool,
}

impl Default for OpenOptions {
    /// 2 s for callers, 30 s for records nobody waits for, 30 days and 1 GiB kept.
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(2),
            late_patience: Duration::from_secs(30),
            retention: Some(Retention::default()),
            yields: None,
            max_pages: None,
            query_only: false,
        }
    }
}

/// An opened ledger, and what its owner should be told.
#[derive(Debug)]
pub struct Opened {
    /// The ledger.
    pub ledger: Ledger,
    /// For the log. Empty in the ordinary case.
    pub notes: Vec<OpenNote>,
}

/// Something that happened while opening and that a person may want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenNote {
    /// The file belongs to a newer program: it was left untouched, and another one is used.
    NewerFormat {
        /// The file that was left.
        left: PathBuf,
        /// Its major.
        major: u32,
        /// The file used instead.
        opened: PathBuf,
    },
    /// For a reader: there is no ledger here yet.
    NoLedger {
        /// Where one would be.
        place: PathBuf,
    },
}

/// A ledger that can be written. Clones write through the same thread into the same chain.
#[derive(Debug, Clone)]
pub struct Ledger {
    instance: Uuid,
    shared: Arc<Shared>,
    orders: Sender<Order>,
    room: Arc<Semaphore>,
    patience: Duration,
    late_patience: Duration,
}

impl Ledger {
    /// Opens the ledger at `place` as a new instance, making file (0600) and folder (0700) where missing.
    ///
    /// # Errors
    /// [`OpenFault`] says what is wrong with the place or the file. A newer program's file is no error: it is left
    /// untouched, the one beside it is used, and a note says so.
    pub fn open(place: &Path, options: OpenOptions) -> Result<Opened, OpenFault> {
        let place = &place::absolute(place)?;
        let mut notes = Vec::new();
        let settings = Settings {
            patience: options.patience,
            max_pages: options.max_pages,
            query_only: options.query_only,
        };
        let store = match open_unless_newer(place, &settings)? {
            Attempt::Opened(store) => store,
            Attempt::Newer { major } => {
                let beside = place::beside_newer(place);
                let note = OpenNote::NewerFormat {
                    left: place.to_owned(),
                    major,
                    opened: beside.clone(),
                };
                notes.push(note);
                match open_unless_newer(&beside, &settings)? {
                    Attempt::Opened(store) => store,
                    Attempt::Newer { .. } => {
                        return Err(OpenFault::NewerFormat {
                            place: place.to_owned(),
                            ours: FORMAT,
                        });
                    }
                }
            }
        };
        let ledger = Self::start(*store, options)?;
        Ok(Opened { ledger, notes })
    }

    fn start(store: Store, options: OpenOptions) -> Result<Self, OpenFault> {
        let instance = store.instance();
        let shared = Arc::new(Shared::new(store, options.yields));
        let (orders, inbox) = mpsc::channel();
        let of_writer = Arc::clone(&shared);
        let chore = options.retention.map(|retention| Chore {
            retention,
            patience: options.patience,
        });
        std::thread::Builder::new()
            .name("candor-ledger".into())
            .spawn(move || writer::run(&of_writer, &inbox, chore))
            .map_err(|source| OpenFault::Place {
                place: shared.place.clone(),
                source,
            })?;
        Ok(Self {
            instance,
            shared,
            orders,
            room: Arc::new(Semaphore::new(QUEUE_KIB as usize)),
            patience: options.patience,
            late_patience: options.late_patience,
        })
    }

    /// Which chain this ledger writes.
    #[must_use]
    pub fn instance(&self) -> Uuid {
        self.instance
    }

    /// The file that is really written: not the one asked for, if that was a newer program's.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.shared.place
    }

    /// What the writer has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Writes one batch, all of it or nothing, and returns when it is synced to disk. Waits no longer than the
    /// patience given at opening. Must run where tokio's timer does.
    ///
    /// # Errors
    /// Every fault but [`Fault::Undecided`] means that the batch is not in the ledger and never will be: if the
    /// writer had not begun it, giving up took it out of the queue. `Undecided` means that the writer had begun and
    /// the disk did not answer; the batch may appear, whole. Records appended afterwards stand behind it, so a
    /// caller who now does not act appends a verdict that says so.
    ///
    /// Dropping the future does not take the batch back.
    pub async fn append(&self, batch: Vec<Entry>) -> Result<Receipt, Fault> {
        match self.append_with(batch, None).await? {
            Appended::Written(receipt) => Ok(receipt),
            // Only a batch that claims a key can find it taken.
            Appended::Taken(_) => Err(Misuse::EmptyBatch.into()),
        }
    }

    /// As [`Ledger::append`], and does with an idempotency key what `step` says, in the same transaction: of two that
    /// claim one key, also from two processes, one is written and the other is told who has it. The batch's entries
    /// are of one operation.
    ///
    /// # Errors
    /// As [`Ledger::append`].
    pub async fn append_keyed(&self, batch: Vec<Entry>, step: KeyStep) -> Result<Appended, Fault> {
        self.append_with(batch, Some(step)).await
    }

    /// The last record of each of these operations, in their order; without one for those that are not there. Blocks
    /// while the writer writes.
    ///
    /// # Errors
    /// A fault of the file.
    pub fn last_records(&self, operations: &[Uuid]) -> Result<Vec<Option<StoredEntry>>, Fault> {
        let store = self.shared.store();
        let store = store.as_ref().ok_or(Fault::Closed)?;
        operations
            .iter()
            .map(|operation| {
                keys::last_of(store.connection(), *operation)
                    .map_err(|error| Fault::from_sqlite(store.place(), Duration::ZERO, &error))
            })
            .collect()
    }

    /// Who but this operation has an idempotency key now. Nothing is taken: whoever appends later may find it changed.
    /// Blocks while the writer writes.
    ///
    /// # Errors
    /// A fault of the file.
    pub fn key_holder(&self, scope: &Digest, operation: Uuid) -> Result<Option<FirstUse>, Fault> {
        let store = self.shared.store();
        let store = store.as_ref().ok_or(Fault::Closed)?;
        keys::holder(store.connection(), store.place(), scope, operation)
            .map_err(|error| Fault::from_sqlite(store.place(), Duration::ZERO, &error))
    }

    /// What became of an operation that has an idempotency key, and the answer that is kept of it; `None` where it has none,
    /// or its time is over. Blocks while the writer writes.
    ///
    /// # Errors
    /// A fault of the file.
    pub fn keyed_operation(&self, operation: Uuid) -> Result<Option<FirstUse>, Fault> {
        let store = self.shared.store();
        let store = store.as_ref().ok_or(Fault::Closed)?;
        keys::of_operation(store.connection(), store.place(), operation)
            .map_err(|error| Fault::from_sqlite(store.place(), Duration::ZERO, &error))
    }

    async fn append_with(&self, batch: Vec<Entry>, key: Option<KeyStep>) -> Result<Appended, Fault> {
        let kib = weigh(&batch, key.as_ref())?;
        let begun = Instant::now();
        let deadline = tokio::time::Instant::from_std(begun + self.patience);
        let room = Arc::clone(&self.room).acquire_many_owned(kib);
        let room = match tokio::time::timeout_at(deadline, room).await {
            Ok(Ok(room)) => room,
            Ok(Err(_closed)) => return Err(Fault::Closed),
            Err(_elapsed) => return Err(Fault::Backlog { kib: QUEUE_KIB }),
        };
        let claim = Arc::new(Claim::new());
        let (reply, mut answer) = oneshot::channel();
        // The writer gives up a little earlier, so that its reason arrives in time.
        let until = begun
            + self
                .patience
                .saturating_sub((self.patience / 10).min(Duration::from_millis(100)));
        let job = Job {
            batch,
            key,
            claim: Arc::clone(&claim),
            since: begun,
            until,
            reply: Some(reply),
            _room: room,
        };
        self.send(job)?;
        match tokio::time::timeout_at(deadline, &mut answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_writer_ended)) if claim.withdraw() => Err(Fault::Closed),
            Err(_elapsed) if claim.withdraw() => Err(self.shared.obstacle(begun.elapsed())),
            // Begun: its answer may have come in this very moment.
            Ok(Err(_)) | Err(_) => answer.try_recv().unwrap_or_else(|_| {
                Err(Fault::Undecided {
                    place: self.shared.place.clone(),
                    waited: begun.elapsed(),
                })
            }),
        }
    }

    /// Queues one batch and returns at once: for records whose loss in a crash is acceptable (trusted reads).
    /// They keep their order with all other batches of this ledger.
    ///
    /// # Errors
    /// [`Fault::Backlog`] if no room is left in the queue, [`Fault::Closed`], or a misuse. A batch that was taken
    /// and then could not be written is logged and counted in [`Stats::lost`].
    pub fn append_later(&self, batch: Vec<Entry>) -> Result<(), Fault> {
        let kib = weigh(&batch, None)?;
        let room = Arc::clone(&self.room)
            .try_acquire_many_owned(kib)
            .map_err(|error| match error {
                TryAcquireError::Closed => Fault::Closed,
                TryAcquireError::NoPermits => Fault::Backlog { kib: QUEUE_KIB },
            })?;
        let since = Instant::now();
        let until = since + self.late_patience;
        self.send(Job {
            batch,
            key: None,
            claim: Arc::new(Claim::new()),
            since,
            until,
            reply: None,
            _room: room,
        })
    }

    fn send(&self, job: Job) -> Result<(), Fault> {
        self.shared.one_more_waits();
        self.orders.send(Order::Write(job)).map_err(|_| Fault::Closed)
    }

    /// Computes what pruning would take now. Changes nothing.
    ///
    /// # Errors
    /// A fault of the file.
    pub fn prune_plan(&self, retention: &Retention, now_ms: i64) -> Result<PrunePlan, Fault> {
        let store = self.shared.store();
        prune::of_store(store.as_ref().ok_or(Fault::Closed)?, retention, now_ms, u64::MAX)
    }

    /// Carries a plan out, in steps that leave other writers room between them. What was opened again or became
    /// unsettled since the plan was made stays.
    ///
    /// # Errors
    /// A fault of the file. Steps that were done stay done; every chain verifies after each.
    pub fn prune(&self, plan: &PrunePlan) -> Result<Pruned, Fault> {
        let mut store = self.shared.store();
        prune::execute(store.as_mut().ok_or(Fault::Closed)?, plan, self.patience)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// Writes what was queued before, ends the instance and takes its lock file away. Other clones get
    /// [`Fault::Closed`] from then on. A ledger whose last clone is dropped ends in the same way, unwatched.
    ///
    /// # Errors
    /// [`Fault::Slow`] or [`Fault::Locked`] if that did not come to its end within the patience; the writer goes
    /// on trying while the process lives.
    pub async fn close(self) -> Result<(), Fault> {
        let begun = Instant::now();
        let (closed, done) = oneshot::channel();
        self.orders
            .send(Order::Close(closed))
            .map_err(|_| Fault::Closed)?;
        match tokio::time::timeout(self.patience, done).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_ended)) => Err(Fault::Closed),
            Err(_elapsed) => Err(self.shared.obstacle(begun.elapsed())),
        }
    }
}

/// Makes and opens `place`, unless a newer program's file is there: that one is not even opened if its header
/// already says so.
fn open_unless_newer(place: &Path, settings: &Settings) -> Result<Attempt, OpenFault> {
    match place::header(place)? {
        Header::Ledger { major } if place::is_newer(major) => return Ok(Attempt::Newer { major }),
        Header::NotSqlite => {
            return Err(OpenFault::NotALedger {
                place: place.to_owned(),
                found: "not an SQLite database",
            });
        }
        Header::Absent => place::prepare(place)?,
        Header::Ledger { .. } | Header::OtherSqlite => {}
    }
    Store::open(place, settings, now_ms())
}

/// What a batch takes of the queue, in KiB, if it may go there at all.
fn weigh(batch: &[Entry], key: Option<&KeyStep>) -> Result<u32, Fault> {
    if batch.is_empty() {
        return Err(Misuse::EmptyBatch.into());
    }
    let weight: usize = batch.iter().map(Entry::weight).sum();
    let weight = weight + key.map_or(0, KeyStep::weight);
    let kib = u32::try_from(weight.div_ceil(1024)).unwrap_or(u32::MAX);
    if batch.len() > BATCH_ENTRIES || kib > BATCH_KIB {
        return Err(Fault::Misuse(Misuse::BatchTooLarge {
            entries: batch.len(),
            kib,
            max_entries: BATCH_ENTRIES,
            max_kib: BATCH_KIB,
        }));
    }
    Ok(kib)
}

/// The wall clock, in milliseconds. One before 1970 counts as 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
