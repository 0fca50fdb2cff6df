//! The decision table as an answer sheet: the row for a way to end, a class and a reading.

use std::sync::LazyLock;

use serde::Deserialize;

/// One row, as written or as it follows from one.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Row {
    how: String,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    contract: Option<String>,
    /// Where the answer goes.
    pub(crate) channel: String,
    #[serde(default)]
    flag: Option<toml::Value>,
    /// The protocol layer.
    pub(crate) protocol: String,
    /// The outcome.
    pub(crate) outcome: String,
    /// The effect.
    pub(crate) effect: String,
    /// The evidence.
    pub(crate) evidence: String,
    /// The kind of error, where there is one.
    #[serde(default)]
    pub(crate) kind: Option<String>,
    /// What becomes of the server's bytes.
    pub(crate) bytes: String,
    /// The first words of Candor's block.
    pub(crate) opening: String,
    /// The finding, where there is one.
    #[serde(default)]
    pub(crate) finding: Option<String>,
}

impl Row {
    /// Whether the answer must be flagged; none where it stays as the server sent it.
    pub(crate) fn flagged(&self) -> Option<bool> {
        self.flag.as_ref().and_then(toml::Value::as_bool)
    }
}

#[derive(Deserialize)]
struct Table {
    case: Vec<Rows>,
}

#[derive(Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-core/decisions.toml");
    let table: Table = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    table.case.into_iter().flat_map(|rows| rows.rows).collect()
});

/// The row for this end, class and reading: as written, else by the rules in the table's head.
pub(crate) fn row(how: &str, class: &str, contract: &str) -> Row {
    let written = |class: &str, contract: &str| {
        let fits = |row: &&Row| {
            row.how == how
                && row.class.as_deref().is_none_or(|of| of == class)
                && row.contract.as_deref().unwrap_or("none") == contract
        };
        ROWS.iter().find(fits).cloned()
    };
    let of_write = |contract: &str| written("write", contract).map(|row| as_class(row, class));
    written(class, contract)
        .or_else(|| of_write(contract))
        .or_else(|| written(class, "none"))
        .or_else(|| of_write("none"))
        .unwrap_or_else(|| panic!("no row for {how}, {class}, {contract}"))
}

fn as_class(mut row: Row, class: &str) -> Row {
    if class == "read" {
        row.effect = "not_applied".to_owned();
        if ["FAILED, EFFECT UNKNOWN", "REJECTED, EFFECT UNKNOWN"].contains(&row.opening.as_str()) {
            row.opening = "NOT DONE".to_owned();
        }
    }
    row
}

#[test]
fn rows_that_are_not_written_follow_from_those_that_are() {
    for (how, class, contract, outcome, effect, opening) in [
        ("ok", "write", "none", "reported", "unknown", ""),
        ("ok", "read", "none", "reported", "not_applied", ""),
        (
            "ok",
            "idempotent",
            "rejected",
            "rejected",
            "not_applied",
            "NOT DONE",
        ),
        ("ok", "read", "failed", "failed", "not_applied", "NOT DONE"),
        (
            "e_other",
            "write",
            "rejected",
            "failed",
            "unknown",
            "FAILED, EFFECT UNKNOWN",
        ),
        ("bad_input", "read", "none", "rejected", "not_applied", "NOT DONE"),
        (
            "timeout",
            "read",
            "completed",
            "failed",
            "not_applied",
            "NOT DONE",
        ),
    ] {
        let row = row(how, class, contract);
        assert_eq!(
            (row.outcome.as_str(), row.effect.as_str(), row.opening.as_str()),
            (outcome, effect, opening),
            "{how} {class} {contract}"
        );
    }
}
