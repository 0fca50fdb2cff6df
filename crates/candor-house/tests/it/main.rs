//! What the house holds by itself, because a floor that nothing checks sags: arrows between crates, the core's purity,
//! what every source file must and must not say, licences and doubles of dependencies.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking, in its shared parts too"
)]

mod arrows;
mod cases;
mod code;
mod dependencies;
mod documents;
mod licence;
mod places;
mod purity;
mod sources;
mod workspace;
