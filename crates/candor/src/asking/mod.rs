//! Asking the user.

/// How the user can be asked in one call.
#[derive(Debug, Default)]
pub(crate) struct Asking;
