//! Both ends of Candor in tests: a host that drives it, a tee that records what it did, and the rules to judge that by.

pub(crate) mod contract;
pub(crate) mod conversation;
pub(crate) mod decisions;
pub(crate) mod frame;
pub(crate) mod host;
pub(crate) mod scene;
pub(crate) mod spec;
pub(crate) mod transcript;
