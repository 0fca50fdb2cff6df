//! Contract packs: finished contracts for servers that many people run, applied by package, version and tool.
//!
//! A pack knows for which package and versions it was written, and what the schemas of its tools looked like. Where that
//! does not fit, it says nothing: a contract for another tool of the same name would be worse than none.

mod builtin;
mod chosen;
mod digest;
mod origin;
mod versions;

pub use builtin::{BUILT_IN, built_in};
pub use chosen::Packs;
pub use digest::input_digest;
pub use origin::{Ecosystem, Origin, Package, PackageFault};
pub use versions::{VersionFault, Versions};
