//! What `candor settle` takes.

use candor_core::call::settled::{MOST_REASON, Word};

use crate::args::LedgerPlace;

/// `candor settle ID`
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("word").required(true).args(["applied", "not_applied"]),
    after_help = "\
Examples:
  candor calls --unsettled                 what waits for somebody's word, and how old it is
  candor settle 8f2c1a90 --applied --because \"booking 4711 is in the calendar\"
  candor settle 8f2c1a90 --not-applied --because \"the list of issues does not have it\"

The word is written down as a new record with the evidence `operator`, the reason and your user name; what was recorded
before stays, and `candor show` tells both. Look at the state of the target first: nothing here checks it.
Exit codes: 0 if it is settled, 1 if not (no such call, it still runs, or nobody has to settle it), 2 if several calls have
such an id, or the record can't be written."
)]
pub(crate) struct SettleArgs {
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
    /// The operation's id, or a unique end of it, at least 4 characters.
    pub(crate) id: String,
    /// It was done.
    #[arg(long)]
    pub(crate) applied: bool,
    /// It was not done, and nothing changed.
    #[arg(long)]
    pub(crate) not_applied: bool,
    /// How you know, in your words, 2,000 bytes at most. Credentials in it are masked.
    #[arg(long, value_name = "REASON", value_parser = reason)]
    pub(crate) because: String,
    /// Settle it also where something else is known of it already.
    #[arg(long)]
    pub(crate) anyway: bool,
    /// What is settled as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl SettleArgs {
    /// The word; one of the two is always said.
    pub(crate) fn word(&self) -> Word {
        if self.applied {
            Word::Applied
        } else {
            Word::NotApplied
        }
    }
}

fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.len() {
        0 => Err("a reason is needed: what you looked at, in a few words".to_owned()),
        length if length > MOST_REASON => Err(format!(
            "{length} bytes are too many for the record: say it in {MOST_REASON}"
        )),
        _ => Ok(text.to_owned()),
    }
}
