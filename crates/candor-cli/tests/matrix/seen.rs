//! What was seen of one cell: what the caller was told, what the ledger says, and the truth.

use candor_fixtures::Truth;
use serde_json::Value;

use crate::backend::RECEIVED;

/// What a verdict says of its own record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// It is on disk.
    Kept,
    /// There is none.
    Missing,
    /// Nothing: that of a known read waits for nobody.
    OnItsWay,
}

/// The words of one verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) outcome: String,
    pub(crate) effect: String,
    pub(crate) evidence: String,
    pub(crate) attempts: u64,
    /// What it says of its own record.
    pub(crate) record: Record,
}

impl Claim {
    /// From a verdict, as it is delivered and as it stands in a record.
    pub(crate) fn of(verdict: &Value) -> Self {
        let word = |name: &str| verdict[name].as_str().unwrap_or_default().to_owned();
        Self {
            outcome: word("outcome"),
            effect: word("effect"),
            evidence: word("evidence"),
            attempts: verdict["attempts"].as_u64().unwrap_or_default(),
            record: match verdict["recorded"].as_bool() {
                Some(true) => Record::Kept,
                Some(false) => Record::Missing,
                None => Record::OnItsWay,
            },
        }
    }

    /// Whether the two say the same of what happened.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        (&self.outcome, &self.effect, &self.evidence) == (&other.outcome, &other.effect, &other.evidence)
    }
}

/// What the backend's file says of the tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fact {
    /// Calls that came.
    pub(crate) received: usize,
    /// Bookings that were made.
    pub(crate) done: usize,
}

impl Fact {
    /// Counted from the lines of this tool.
    pub(crate) fn of(tool: &str, truths: &[Truth]) -> Self {
        let own = || truths.iter().filter(|truth| truth.tool == tool);
        Self {
            received: own().filter(|truth| truth.what == RECEIVED).count(),
            done: own().filter(|truth| truth.done).count(),
        }
    }
}

/// All that was seen of one cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// What the caller was told; none where nothing came.
    pub(crate) told: Option<Claim>,
    /// The first words of Candor's block, where it wrote one.
    pub(crate) opening: String,
    /// Operations of the tool in the ledger.
    pub(crate) operations: usize,
    /// What the ledger says of the operation, one verdict after the other.
    pub(crate) verdicts: Vec<Claim>,
    /// What `candor calls` says of it in the end; none where the ledger has no such call or no end of it.
    pub(crate) recorded: Option<Claim>,
    /// Whether it is on the list of what somebody must settle.
    pub(crate) unsettled: bool,
    /// The fact when the caller was told.
    pub(crate) then: Fact,
    /// The fact in the end.
    pub(crate) truth: Fact,
    /// What `candor ledger verify` found wrong.
    pub(crate) damage: Option<String>,
}
