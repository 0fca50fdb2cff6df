//! The text of the decision table, for programs that print from it. The judge never reads it: it is the answer sheet.

/// `decisions.toml` as it was built in: for every way a call can end, every effect class and every reading of a
/// contract what Candor concludes and says (DESIGN section 3a).
pub const DECISIONS: &str = include_str!("../decisions.toml");
