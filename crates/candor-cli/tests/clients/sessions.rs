//! `sessions.toml` as types: clients, sessions, steps, and what a caller must see of each.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decisions::{self, Row};

/// The whole file.
pub(crate) static ALL: LazyLock<All> =
    LazyLock::new(|| toml::from_str(include_str!("sessions.toml")).unwrap_or_else(|fault| panic!("{fault}")));

/// Clients and sessions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct All {
    pub(crate) client: Vec<Client>,
    pub(crate) session: Vec<Session>,
}

/// One client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Client {
    pub(crate) name: String,
    /// The eras it speaks.
    pub(crate) eras: Vec<Era>,
    /// What it throws for a JSON-RPC error.
    pub(crate) throws: String,
}

/// How a session is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Era {
    /// `initialize`.
    Legacy,
    /// `server/discover`, 2026-07-28.
    Modern,
    /// The client asks first, and falls back.
    Auto,
}

impl Era {
    /// Whether the client is told which era to speak.
    pub(crate) fn is_fixed(self) -> bool {
        self != Self::Auto
    }
}

fn fixed() -> Vec<Era> {
    vec![Era::Legacy, Era::Modern]
}

fn any() -> Vec<Era> {
    vec![Era::Legacy, Era::Modern, Era::Auto]
}

/// One session with one fixture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Session {
    pub(crate) name: String,
    /// What the fixture plays: a name of its catalogue, or a file beside this one.
    pub(crate) script: String,
    /// Tools whose mapping the operator declares.
    #[serde(default)]
    pub(crate) contract: Vec<String>,
    /// More options for Candor.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// Without `--name`: the server has the name it gives itself.
    #[serde(default)]
    pub(crate) unnamed: bool,
    /// Without Candor: what a client does by itself.
    #[serde(default)]
    pub(crate) bare: bool,
    #[serde(default = "fixed")]
    pub(crate) eras: Vec<Era>,
    /// The revision agreed upon; the newest of the era where left out.
    #[serde(default)]
    pub(crate) revision: Option<String>,
    pub(crate) step: Vec<Step>,
}

/// What a caller does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Do {
    Ping,
    List,
    Call,
    /// Calls, and leaves when the server has said that it began.
    Cancel,
    /// Two calls at once.
    Pair,
    /// `subscriptions/listen`.
    Listen,
}

/// One step, and what must be seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) name: String,
    #[serde(rename = "do", default = "call")]
    pub(crate) act: Do,
    #[serde(default)]
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    #[serde(default)]
    pub(crate) arguments: BTreeMap<String, Value>,
    /// Asks to be told of progress.
    #[serde(default)]
    pub(crate) progress: bool,
    /// How much must be heard from the server before the step is over.
    #[serde(default)]
    pub(crate) awaits: usize,
    #[serde(default = "any")]
    pub(crate) eras: Vec<Era>,
    /// The row of the decision table.
    #[serde(default)]
    row: Option<RowName>,
    /// In how many rounds it was sent, where there is more than one: they are one operation.
    #[serde(default)]
    pub(crate) rounds: Option<u64>,
    /// What the first block says, in pieces.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    #[serde(default)]
    seen: Seeing,
    /// Where one client sees something else.
    #[serde(default)]
    but: Vec<But>,
}

fn call() -> Do {
    Do::Call
}

/// A row of the decision table, by its key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowName {
    how: String,
    #[serde(default = "write")]
    class: String,
    #[serde(default = "none")]
    contract: String,
}

fn write() -> String {
    "write".to_owned()
}

fn none() -> String {
    "none".to_owned()
}

impl RowName {
    pub(crate) fn row(&self) -> Row {
        decisions::row(&self.how, &self.class, &self.contract)
    }
}

/// What a caller sees beside what the row says.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Seeing {
    /// The row of the decision table; the step's where left out.
    pub(crate) row: Option<RowName>,
    /// `structuredContent`. Candor's where it wrote the result, if left out.
    pub(crate) structured: Option<Structured>,
    /// Members of the result by JSON Pointer.
    pub(crate) has: BTreeMap<String, Value>,
    /// Members that are not there.
    pub(crate) lacks: Vec<String>,
    /// An error in place of a result.
    pub(crate) throws: Option<Throws>,
    /// What the server said by itself meanwhile, all of it.
    pub(crate) heard: Option<Vec<Value>>,
    /// Names of the tools listed.
    pub(crate) tools: Option<Vec<String>>,
}

/// Whose structure a result has.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Structured {
    Absent,
    /// The verdict.
    Candor,
    /// What the server wrote.
    Own(Value),
}

/// What a client throws.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Throws {
    /// Its class; the client's own for JSON-RPC errors where left out.
    #[serde(default)]
    pub(crate) class: Option<String>,
    /// A JSON-RPC code, or what the client has in its place.
    #[serde(default)]
    pub(crate) code: Option<Value>,
    /// A piece of its message.
    pub(crate) says: String,
}

/// What some clients see that the others do not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct But {
    clients: Vec<String>,
    #[serde(default = "any")]
    eras: Vec<Era>,
    /// Whose doing that is.
    why: String,
    seen: Seeing,
}

impl Step {
    /// What this client's caller must see.
    pub(crate) fn expected(&self, client: &Client, era: Era) -> Seeing {
        let mut expected = self.seen.clone();
        expected.row = self.row.clone();
        for but in &self.but {
            if !but.clients.contains(&client.name) || !but.eras.contains(&era) {
                continue;
            }
            let own = but.seen.clone();
            expected.row = own.row.or(expected.row);
            expected.structured = own.structured.or(expected.structured);
            expected.throws = own.throws.or(expected.throws);
            expected.heard = own.heard.or(expected.heard);
            expected.tools = own.tools.or(expected.tools);
            expected.has.retain(|pointer, _| !own.lacks.contains(pointer));
            expected.lacks.retain(|pointer| !own.has.contains_key(pointer));
            expected.has.extend(own.has);
            expected.lacks.extend(own.lacks);
        }
        expected
    }
}

/// Every opening that some row of the decision table has.
pub(crate) fn openings() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-core/decisions.toml");
    let table: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let cases = table["case"].as_array().unwrap().iter();
    let rows = cases.flat_map(|case| case["rows"].as_array().unwrap());
    // What a tool written with the library says of itself is shown by crates/candor/tests/official.
    let ours = rows.filter(|row| !matches!(row["how"].as_str(), Some("told" | "panicked")));
    let openings = ours.map(|row| row["opening"].as_str().unwrap());
    openings
        .filter(|opening| !opening.is_empty() && *opening != "as its own row")
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_file_names_only_what_there_is() {
    let clients: Vec<_> = ALL.client.iter().map(|client| client.name.as_str()).collect();
    let mut sessions = BTreeSet::new();
    for session in &ALL.session {
        assert!(sessions.insert(&session.name), "session {} twice", session.name);
        let mut steps = BTreeSet::from(["open", "close"]);
        for step in &session.step {
            let place = format!("{}/{}", session.name, step.name);
            assert!(steps.insert(&step.name), "{place} twice");
            assert_eq!(
                step.act == Do::Call,
                !step.tool.is_empty() && step.act != Do::Cancel,
                "{place}: its tool"
            );
            for but in &step.but {
                assert!(
                    but.why.len() > 20,
                    "{place}: why {:?} see something else",
                    but.clients
                );
                for client in &but.clients {
                    assert!(clients.contains(&client.as_str()), "{place}: no client {client}");
                }
            }
        }
    }
    assert_eq!(openings().len(), 6, "{:?}", openings());
}
