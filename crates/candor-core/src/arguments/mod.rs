//! Arguments of a call against its contract: every issue at once, lossless coercion, texts a model can act on.

pub mod check;
pub mod coerce;
pub mod issue;
pub mod nearest;
