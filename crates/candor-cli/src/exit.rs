//! Exit codes (DESIGN section 6).

use std::process::ExitCode;

/// How this process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(u8);

impl Exit {
    /// Good.
    pub(crate) const GOOD: Self = Self(0);
    /// Something was found.
    pub(crate) const FINDINGS: Self = Self(1);
    /// Usage or configuration.
    pub(crate) const USAGE: Self = Self(2);
    /// The server could not be reached (or started).
    pub(crate) const UNREACHABLE: Self = Self(4);

    /// The code of a wrapped server, passed on.
    pub(crate) fn of_server(code: i32) -> Self {
        // Shells know eight bits; a code outside them can only be told as "something else than 0".
        Self(u8::try_from(code & 0xff).unwrap_or(1))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}
