//! What may happen after a verdict: following what was accepted, looking again at what a call left behind, sending it again.
//! Nothing of it without a contract, or the protocol's own word (DESIGN 3d).

pub mod follow;
pub mod read_back;
pub mod retry;
pub mod settle;
