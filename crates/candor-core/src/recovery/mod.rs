//! What may happen after a verdict: looking again at what a call left behind, sending it again. Only a contract asks for it.

pub mod read_back;
pub mod retry;
pub mod settle;
