//! The ledger seen from outside: what is on disk when, what survives, what is found.

#[cfg(test)]
mod append;
#[cfg(test)]
mod chance;
#[cfg(test)]
mod child;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod format;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod power_cut;
#[cfg(test)]
mod prune;
#[cfg(test)]
mod reader;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tamper;
