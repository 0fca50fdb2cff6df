//! What a script may say. Scripts are JSON files under `scripts/`, or written by a test.
//!
//! Answers are kept as the bytes they are written in (numbers, member order, unknown members), only joined to one line.
//! Inside them a whole JSON string such as `"{{id}}"` stands for a value of the call: see [`crate::script::Step`].

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A server that lies: what it lists and what it plays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Script {
    /// One sentence: what this server is for.
    pub about: String,
    /// `serverInfo`, as it is sent.
    pub server: Box<RawValue>,
    /// `capabilities`, as they are sent.
    #[serde(default = "tools_only")]
    pub capabilities: Box<RawValue>,
    /// Protocol revisions it speaks; all five when left out.
    #[serde(default = "every_revision")]
    pub revisions: Vec<String>,
    /// Tools on one page of `tools/list`; all on one when left out.
    #[serde(default)]
    pub page_size: Option<usize>,
    /// Stays alive when its stdin ends, as some real servers do.
    #[serde(default)]
    pub outlives_eof: bool,
    /// Played before anything was read.
    #[serde(default)]
    pub start: Vec<Step>,
    /// Steps for a method or a notification, in place of what the engine would do.
    #[serde(default)]
    pub methods: BTreeMap<String, Vec<Step>>,
    /// What happens to a request whose method nobody here knows.
    #[serde(default)]
    pub unknown: Unknown,
    /// The tools.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// Other tool definitions, by name of the list: [`Step::Relist`] puts one in place of the first.
    #[serde(default)]
    pub lists: BTreeMap<String, Vec<Box<RawValue>>>,
}

/// What happens to a request whose method is unknown.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unknown {
    /// -32601, as the specification says.
    #[default]
    Refuse,
    /// A result with the parameters in `received`, byte for byte. Not the whole frame: a proxy may give it another id.
    Echo,
    /// No answer.
    Ignore,
    /// The process ends, as some real servers do.
    Die,
}

/// One tool: how it is listed, what it plays, and which rows of the decision table that proves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tool {
    /// The definition, as it is sent in `tools/list`.
    pub definition: Box<RawValue>,
    /// Answers calls though it is on no list.
    #[serde(default)]
    pub unlisted: bool,
    /// The first play whose `when` fits is played.
    pub plays: Vec<Play>,
    /// What an operator could declare about this tool's answers. The fixture itself never looks at it.
    #[serde(default)]
    pub mapping: Option<Mapping>,
    /// More that an operator could declare, as lines of TOML in the tool's own table, where `{tool}` stands for its path.
    #[serde(default)]
    pub contract: Option<String>,
    /// What this tool proves.
    #[serde(default)]
    pub cases: Vec<Case>,
}

/// Steps for the calls that fit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Play {
    /// Which calls; every call when left out.
    #[serde(default)]
    pub when: When,
    /// Played in this order.
    pub steps: Vec<Step>,
}

/// Which calls a play is for. All that is given must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct When {
    /// Arguments by JSON Pointer, and the value each must have.
    pub arguments: BTreeMap<String, serde_json::Value>,
    /// The how-manyeth call of this tool, from 1.
    pub call: Option<u64>,
    /// The era of the call.
    pub era: Option<Era>,
    /// What the truth file has of earlier calls with the same arguments, in this process or one before it.
    pub before: Before,
}

/// What became of earlier calls of the same tool with the same arguments, as the truth file has it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Before {
    /// Whatever it was.
    #[default]
    Anything,
    /// There was none.
    Nothing,
    /// There was one, and the action was not done.
    Undone,
    /// The action was done already.
    Done,
}

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Era {
    /// 2024-11-05 to 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

/// One thing a server does.
///
/// In everything that is sent, these whole JSON strings are replaced: `"{{id}}"` (the request's id), `"{{params}}"`,
/// `"{{arguments}}"`, `"{{argument /names/of/members}}"`, `"{{progressToken}}"`, `"{{call}}"` (how many calls of this tool there
/// were), `"{{answer}}"` (what the host answered to [`Step::Ask`]), `"{{found}}"` (by [`Step::LookInLedger`]) and `"{{done TOOL}}"` (an array:
/// the arguments of every call of that tool whose action was done, from the truth file). What is absent becomes `null`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// Truth: the action was done.
    Done(String),
    /// Truth: it was not.
    Undone(String),
    /// Answers with this result. An object gets `resultType` first where the call is modern and it has none.
    Result(Box<RawValue>),
    /// Answers with this error.
    Error(Box<RawValue>),
    /// Writes this JSON as one line, in place of an answer that the engine would frame.
    Frame(Box<RawValue>),
    /// Writes this text and a newline.
    Line(String),
    /// Writes this text alone.
    Bytes(String),
    /// Writes these bytes, given in hexadecimal.
    Hex(String),
    /// Answers with a result whose text has this many bytes (written in pieces, not kept in memory).
    Oversized(usize),
    /// Sends a notification: `method`, `params`.
    Notify(Message),
    /// Sends a request to the host and goes on when it is answered.
    Ask(Message),
    /// Goes on when something is awaited: another call's [`Step::Release`] of this name, `cancelled` (a notification
    /// for this call came) or `eof`. A name that nobody releases never answers.
    Wait(String),
    /// Lets the calls that wait for this name go on, oldest first, before this one does.
    Release(String),
    /// Goes on after so many milliseconds; other calls are served meanwhile.
    AfterMs(u64),
    /// What the engine itself would have answered to this method.
    Usual,
    /// Lists these tools from now on (a name in `lists`).
    Relist(String),
    /// Asks `candor calls --json` for the operations of this tool in the ledger, as they are now: `"{{found}}"`.
    LookInLedger,
    /// Stops this process as it is, as SIGSTOP would: it reads and answers nothing more, and is not gone.
    Freeze,
    /// Ends the process.
    Die(Death),
}

/// A method and its parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Message {
    /// The method.
    pub method: String,
    /// Its parameters, as sent; none when left out.
    #[serde(default)]
    pub params: Option<Box<RawValue>>,
}

/// How a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Death {
    /// By SIGKILL, as out of memory would.
    Kill,
    /// By exit with this code.
    Exit(i32),
}

/// What an operator could declare: where the outcome stands, and which values mean what.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Mapping {
    /// JSON Pointer to the field that decides.
    pub outcome: String,
    /// Values by reading: `completed`, `accepted`, `rejected`, `failed`, `partial`.
    pub values: BTreeMap<String, Vec<String>>,
    /// JSON Pointer to the error code.
    #[serde(default)]
    pub code: Option<String>,
    /// JSON Pointer to the error message.
    #[serde(default)]
    pub message: Option<String>,
    /// JSON Pointer to the reference.
    #[serde(default)]
    pub reference: Option<String>,
    /// What the reference is called, such as `job`.
    #[serde(default)]
    pub noun: Option<String>,
    /// JSON Pointer to the server's suggestion.
    #[serde(default)]
    pub suggestion: Option<String>,
}

/// Which document of a result a mapping's pointers point into.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Document {
    /// `structuredContent`.
    #[default]
    Structured,
    /// The text of the first text block that is a JSON object.
    Text,
}

/// A row of the decision table, and the call that proves it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Case {
    /// How the call ends: a key of `[how]`.
    pub how: String,
    /// `read`, `write` or `idempotent`; all three when left out.
    #[serde(default = "every_class")]
    pub class: Vec<String>,
    /// `none`, or what the mapping makes of the answer.
    #[serde(default = "no_contract")]
    pub contract: String,
    /// The document that the mapping must be told to read for this case.
    #[serde(default)]
    pub document: Document,
    /// For an end that leaves the verdict to another row (`late`, `unlisted_tools`): that row's key.
    #[serde(default)]
    pub own: Option<String>,
    /// The arguments of the call.
    #[serde(default = "no_arguments")]
    pub arguments: Box<RawValue>,
    /// The eras in which this can be; both when left out.
    #[serde(default = "every_era")]
    pub eras: Vec<Era>,
    /// Options of Candor without which this can't be seen, such as a short deadline.
    #[serde(default)]
    pub options: Vec<String>,
    /// More members of the request's `params`, such as `task`.
    #[serde(default)]
    pub params: Option<Box<RawValue>>,
    /// Client capabilities without which a server must not answer so.
    #[serde(default)]
    pub capabilities: Option<Box<RawValue>>,
    /// Tools to call while this call is open, in this order: they release what waits.
    #[serde(default)]
    pub meanwhile: Vec<String>,
    /// Tools to call after this call was answered, in this order: they release what comes too late.
    #[serde(default)]
    pub then: Vec<String>,
    /// What the host must do beside calling.
    #[serde(default)]
    pub driver: Driver,
    /// Where the delivered bytes differ from what the row says.
    #[serde(default)]
    pub bytes: Bytes,
}

/// What a host does beside calling.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Driver {
    /// Nothing.
    #[default]
    Plain,
    /// Cancels the call once the server has it.
    Cancel,
    /// Answers the request that the server sends.
    Answer,
    /// Lists the tools, and calls only when the server's process is gone.
    ServerGone,
}

/// Where delivered bytes differ from a row by its note.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Bytes {
    /// As the row says.
    #[default]
    AsRow,
    /// Empty content gets one block made from the structure.
    OneBlockMade,
    /// Credentials in text blocks are masked.
    CredentialsMasked,
}

/// The revisions there are, oldest first. The last one is modern.
pub const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// The modern revision.
pub const MODERN: &str = "2026-07-28";

fn every_revision() -> Vec<String> {
    REVISIONS.iter().map(ToString::to_string).collect()
}

fn every_class() -> Vec<String> {
    ["read", "write", "idempotent"]
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn every_era() -> Vec<Era> {
    vec![Era::Legacy, Era::Modern]
}

fn no_contract() -> String {
    "none".to_owned()
}

fn no_arguments() -> Box<RawValue> {
    constant("{}")
}

fn tools_only() -> Box<RawValue> {
    constant(r#"{"tools":{"listChanged":true}}"#)
}

/// A constant of this crate as raw JSON.
fn constant(text: &'static str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_default()
}
