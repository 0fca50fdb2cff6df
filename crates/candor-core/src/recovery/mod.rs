//! What may happen after a verdict: looking again at what a call left behind. Only a contract asks for it.

pub mod read_back;
