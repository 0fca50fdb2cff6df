//! Records on disk: append-only, chained, on disk before anyone is told.
//!
//! [`Ledger`] writes: one thread, one SQLite file in WAL mode with `synchronous = FULL`, many callers per
//! transaction. [`Reader`] reads, also while others write, and [`Reader::verify`] walks the digest chains.
//! Several processes may share one file; each is an instance with a chain and a liveness lock of its own.
//!
//! What is deliberately missing: this crate does not know what a verdict means. A record's body is bytes, and
//! its outcome, effect and evidence are words that the caller chose. There is no update and no delete of a
//! record either, but for pruning, which takes what is old and settled and leaves checkpoints.

mod digest;
mod entry;
mod fault;
mod format;
mod gap;
mod keys;
mod ledger;
mod operations;
mod pen;
mod place;
mod presence;
mod prune;
mod reader;
mod recover;
mod row;
mod store;
mod verify;
mod walk;
mod writer;

pub use entry::{Digest, Entry, Phase, Receipt, StoredEntry};
pub use fault::{Fault, Misuse, OpenFault, ReadFault};
pub use format::Format;
pub use keys::{Appended, FirstUse, KeyStep};
pub use ledger::{Ledger, OpenNote, OpenOptions, Opened, Yields};
pub use operations::{Filter, OperationRow, Session, Standing};
pub use prune::{Cut, Held, HeldBecause, PrunePlan, Pruned, Retention};
pub use reader::{Lookup, Reader};
pub use recover::Recovered;
pub use verify::{ChainFault, ChainReport, Verification, WalkFault, What};
pub use writer::Stats;
