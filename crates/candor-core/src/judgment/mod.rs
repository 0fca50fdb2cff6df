//! From how a call ended to what Candor concludes about it. Total: the judge can't fail.

pub mod ending;
pub mod finding;
pub mod how;
pub mod judge;
pub mod looked;
mod mapped;
pub mod ruling;
pub mod sentence;
pub mod told;
pub mod verdict;
pub mod whole;

#[cfg(test)]
mod table;
