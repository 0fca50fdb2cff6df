//! What must hold for every input, whoever wrote it.
//!
//! A [`Target`] is a plain function over bytes that either keeps its laws or says which one broke. The tests of this
//! crate replay a committed corpus and a fixed number of seeded mutations; the folder `fuzz/` beside the workspace
//! runs the very same functions under libFuzzer for as long as one likes. Nothing depends on this crate.

mod broken;
mod input;
mod mutate;
mod random;
mod run;
mod target;
mod targets;
mod tokens;

pub use broken::Broken;
pub use run::{Failure, Plan, Report, Why, run};
pub use target::Target;
