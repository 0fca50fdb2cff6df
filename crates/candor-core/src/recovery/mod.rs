//! What may happen after a verdict. Nothing of it without a contract, or the protocol's own word (DESIGN 3d).

pub mod follow;
pub mod read_back;
pub mod settle;
