//! What may happen after a verdict: looking again at what a call left behind, sending it again, following what was taken on.
//! Nothing of it without a contract, or the protocol's own word (DESIGN 3d).

pub mod follow;
pub mod read_back;
pub mod retry;
pub mod settle;
