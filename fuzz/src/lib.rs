//! What the programs share: a broken law ends a program as a panic does, and libFuzzer keeps the input.

use candor_fuzz::Target;

/// Holds one input against the laws of the target of this name.
///
/// # Panics
/// If a law is broken: that is how libFuzzer hears of it.
pub fn hold(name: &str, input: &[u8]) {
    let target = Target::named(name).expect("a program has the name of a target");
    if let Err(broken) = (target.check)(input) {
        panic!("{broken}");
    }
}
