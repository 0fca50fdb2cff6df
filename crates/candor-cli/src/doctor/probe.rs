//! Starts a wrapped server in a process of its own, bare, and asks it for its tools. Not through the record, and on
//! a pipe that ends with it: some servers do not survive a question that they do not know.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use candor_core::delivery::redaction::{self, KnownSecrets};
use candor_core::wire::decode::{Handshake, ToolsPage};
use serde_json::value::RawValue;

use super::conversation::{Conversation, NoAnswer};
use super::finding::{Finding, Part};
use super::tools;

/// Most pages that are read of one list.
const MOST_PAGES: usize = 100;

/// Most tools that are looked at.
const MOST_TOOLS: usize = 10_000;

const INITIALIZE: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"candor-doctor","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}"#
);
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What a server of 2026-07-28 wants with every request.
const MODERN: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"candor-doctor","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""},"io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// A wrapped server, as it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// The config and the server.
    pub(crate) place: String,
    /// The server's name in the config.
    pub(crate) name: String,
    /// Its command.
    pub(crate) program: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Its variables.
    pub(crate) env: Vec<(String, String)>,
    /// Where it is started.
    pub(crate) cwd: Option<PathBuf>,
}

/// Starts each of them, one after the other.
pub(super) fn look(targets: &[Target], patience: Duration) -> Vec<Finding> {
    if targets.is_empty() {
        let what = "no wrapped server was found that could be started";
        return vec![Part::Servers.note("nothing_to_probe", "servers", what)];
    }
    targets.iter().flat_map(|target| one(target, patience)).collect()
}

fn one(target: &Target, patience: Duration) -> Vec<Finding> {
    let place = target.place.as_str();
    let words = target
        .args
        .iter()
        .chain(target.env.iter().map(|(_, value)| value));
    if words.chain([&target.program]).any(|word| word.contains("${")) {
        let what = "not started: its entry has ${…}, which only its host can fill in";
        return vec![Part::Servers.note("not_probed", place, what)];
    }
    let mut conversation = match Conversation::start(target) {
        Ok(conversation) => conversation,
        Err(fault) => return vec![silent(target, &fault, None)],
    };
    let start = Instant::now();
    let listed = list(&mut conversation, patience);
    let took = start.elapsed();
    let leave = conversation.end();
    let mut findings = match listed {
        Err(fault) => vec![silent(target, &fault, leave.last_words)],
        Ok(listed) => {
            let listed = listed.tools;
            let mut findings = tools::look(place, &listed);
            let what = format!(
                "lists {} within {:.1} s",
                tools::count(listed.len()),
                took.as_secs_f32()
            );
            findings.insert(0, Part::Servers.good("listed", place, what));
            findings
        }
    };
    if leave.lingered {
        let what = "did not end when its input ended; Candor will have to end it, which takes a few seconds";
        findings.push(Part::Servers.note("lingers", place, what));
    }
    findings
}

/// What a server lists.
#[derive(Debug)]
pub(crate) struct ListedTools {
    /// The name it gives itself.
    pub(crate) name: Option<String>,
    /// Its tools, as they came.
    pub(crate) tools: Vec<Box<RawValue>>,
}

/// Starts a server, lists its tools, and ends it.
pub(crate) fn tools_of(target: &Target, patience: Duration) -> Result<ListedTools, NoAnswer> {
    let mut conversation = Conversation::start(target)?;
    let listed = list(&mut conversation, patience);
    conversation.end();
    listed
}

/// All its tools, as they came.
fn list(conversation: &mut Conversation, patience: Duration) -> Result<ListedTools, NoAnswer> {
    let mut name = None;
    let modern = match conversation.ask("initialize", INITIALIZE, patience) {
        Ok(result) => {
            conversation.write(INITIALIZED);
            let handshake = Handshake::read(result.get());
            name = handshake.and_then(|handshake| Some(handshake.server_name()?.into_owned()));
            false
        }
        // A server of the newest revision knows no `initialize`.
        Err(NoAnswer::Refused { .. }) => true,
        Err(fault) => return Err(fault),
    };
    let (mut tools, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..MOST_PAGES {
        let members = cursor.take().map(|cursor| format!(r#""cursor":{cursor}"#));
        let members: Vec<String> = members
            .into_iter()
            .chain(modern.then(|| MODERN.to_owned()))
            .collect();
        let page = conversation.ask("tools/list", &format!("{{{}}}", members.join(",")), patience)?;
        let read: ToolsPage<'_> = serde_json::from_str(page.get()).map_err(|_| NoAnswer::Refused {
            request: "tools/list",
            error: "the result has no list of tools".to_owned(),
        })?;
        tools.extend(read.tools.iter().map(|tool| (*tool).to_owned()));
        cursor = read.next_cursor().map(|cursor| cursor.get().to_owned());
        if cursor.is_none() || tools.len() >= MOST_TOOLS {
            break;
        }
    }
    tools.truncate(MOST_TOOLS);
    Ok(ListedTools { name, tools })
}

/// A server without an answer, with the last thing it said of itself.
fn silent(target: &Target, fault: &NoAnswer, said: Option<String>) -> Finding {
    let secrets = KnownSecrets::new(target.env.iter().map(|(_, value)| value));
    let clean = |text: &str| {
        let known = redaction::known(text, &secrets).value.into_owned();
        redaction::text(&known).value.into_owned()
    };
    let said = said.map_or(String::new(), |said| {
        format!("; its last words: {}", clean(&said))
    });
    let (code, todo) = match fault {
        NoAnswer::NotStarted { .. } => ("not_started", "start the command by hand to see why"),
        NoAnswer::Silent { .. } => (
            "no_answer",
            "start the command by hand; if it only takes long (a download, say), try again with a longer --timeout",
        ),
        NoAnswer::Ended { .. } => (
            "ended_early",
            "start the command by hand to see why; check what its env needs",
        ),
        NoAnswer::Refused { .. } => ("refused", "update the server, or report it to its author"),
    };
    let what = format!("{}{said}", clean(&fault.to_string()));
    Part::Servers.problem(code, target.place.as_str(), what, todo)
}
