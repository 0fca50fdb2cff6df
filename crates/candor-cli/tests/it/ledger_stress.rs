//! The ledger where it can't be written, where many write it, where it is exported and pruned: through the program, as a
//! host sees it.

mod faults;
mod looking_after;
mod siblings;
mod stage;
