//! The command line of Candor.

fn main() {}
