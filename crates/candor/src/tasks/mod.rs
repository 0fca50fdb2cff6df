//! Tools that run as tasks: states, stores, what runs in this process, and the two forms on the wire.

mod asked;
mod board;
mod desk;
pub mod extension;
pub mod legacy;
mod lost;
mod memory;
#[cfg(feature = "sqlite")]
mod presence;
mod relay;
#[cfg(feature = "sqlite")]
mod row;
mod run;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod store;
mod task;
mod terms;
#[cfg(test)]
mod tests;
pub mod tools;
mod wire;

pub use board::Tasks;
pub use desk::{Given, InTask};
pub use memory::{Limits, MemoryStore};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use state::{OutOfTurn, Status};
pub use store::{PAGE, Page, Refused, StoreFault, TaskStore};
pub use task::{End, Keeper, NewTask, State, Step, Task, TaskId};
pub use terms::{Begin, Clock, TaskTerms, system_clock};
pub use wire::{RATE_LIMITED, TaskSupport, Way, refusal};
