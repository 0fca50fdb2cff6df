//! The servers that a config names, and how each is started.

use super::document::{Document, Member, Node, Value};
use super::program::is_candor;

/// Where hosts keep their servers; `*` stands for every member.
const CONTAINERS: &[&[&str]] = &[
    &["mcpServers"],
    &["servers"],
    &["mcp_servers"],
    &["context_servers"],
    &["mcp", "servers"],
    &["experimental", "modelContextProtocolServers"],
    &["projects", "*", "mcpServers"],
];

/// The names of these places, for a person.
pub(crate) const CONTAINERS_TOLD: &str = "mcpServers, servers, mcp_servers, context_servers, mcp.servers, experimental.modelContextProtocolServers";

/// One server of a config.
#[derive(Debug, Clone)]
pub(crate) struct Server<'a> {
    /// Its name there; in a list without names, its place.
    pub(crate) name: String,
    /// Its whole entry.
    pub(crate) entry: &'a Node,
    /// Did somebody switch it off?
    pub(crate) off: bool,
    /// How it is started.
    pub(crate) standing: Standing<'a>,
}

/// How a server is started.
#[derive(Debug, Clone)]
pub(crate) enum Standing<'a> {
    /// By its own command.
    Bare(Launch<'a>),
    /// Through Candor.
    Wrapped(Wrapped<'a>),
    /// Not at all: it is reached by HTTP.
    Remote {
        /// Where, if that is said.
        url: Option<&'a str>,
    },
    /// By an extension of the host; the config has no command.
    Managed,
    /// Not understood.
    Unclear(Unclear),
}

/// A command, and where its words stand.
#[derive(Debug, Clone)]
pub(crate) struct Launch<'a> {
    /// The table that holds them.
    pub(crate) table: &'a Node,
    /// The command.
    pub(crate) command: &'a Member,
    /// The command's text.
    pub(crate) program: &'a str,
    /// The arguments' member, if there is one.
    pub(crate) args_member: Option<&'a Member>,
    /// The arguments.
    pub(crate) args: Vec<&'a str>,
    /// Variables: only their names may ever be shown.
    pub(crate) env: Vec<(&'a str, &'a str)>,
    /// Where it is started.
    pub(crate) cwd: Option<&'a str>,
}

/// A command that starts Candor, which starts the server.
#[derive(Debug, Clone)]
pub(crate) struct Wrapped<'a> {
    /// The whole command.
    pub(crate) launch: Launch<'a>,
    /// The place of `--` in its arguments. Behind it there is at least one.
    pub(crate) dashes: usize,
}

/// Why an entry is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unclear {
    /// Not a table.
    #[error("its entry is no object")]
    NoTable,
    /// A list, or anything else.
    #[error("its command is not one text")]
    CommandNotText,
    /// Something else than texts.
    #[error("its args are not a list of texts")]
    ArgsNotTexts,
    /// Readers differ in which of them counts.
    #[error("it has `{key}` more than once")]
    Repeated {
        /// The name.
        key: String,
    },
    /// A command line.
    #[error("its command holds spaces: split it into command and args")]
    CommandLine,
    /// A command of Candor that wraps nothing.
    #[error("it starts Candor, but no server behind `--`")]
    CandorAlone,
}

impl<'a> Wrapped<'a> {
    /// The options that Candor gets.
    pub(crate) fn options(&self) -> &[&'a str] {
        self.launch.args.get(..self.dashes).unwrap_or_default()
    }

    /// The server's own command.
    pub(crate) fn program(&self) -> &'a str {
        self.launch.args.get(self.dashes + 1).copied().unwrap_or_default()
    }

    /// The server's own arguments.
    pub(crate) fn args(&self) -> &[&'a str] {
        self.launch.args.get(self.dashes + 2..).unwrap_or_default()
    }
}

/// All servers of a config, in its order. `said` is a program that was said to be Candor, whatever its name.
pub(crate) fn servers<'a>(document: &'a Document, said: Option<&str>) -> Vec<Server<'a>> {
    let mut found = Vec::new();
    for path in CONTAINERS {
        walk(&document.root, path, said, &mut found);
    }
    found
}

/// Does the config have a place for servers at all?
pub(crate) fn has_container(document: &Document) -> bool {
    CONTAINERS.iter().any(|path| reaches(&document.root, path))
}

fn reaches(node: &Node, path: &[&str]) -> bool {
    match path.split_first() {
        None => matches!(node.value, Value::Table(_) | Value::List(_)),
        Some((&"*", rest)) => node
            .members()
            .unwrap_or_default()
            .iter()
            .any(|member| reaches(&member.value, rest)),
        Some((key, rest)) => node.get(key).is_some_and(|inner| reaches(inner, rest)),
    }
}

fn walk<'a>(node: &'a Node, path: &[&str], said: Option<&str>, found: &mut Vec<Server<'a>>) {
    match path.split_first() {
        Some((&"*", rest)) => {
            for member in node.members().unwrap_or_default() {
                walk(&member.value, rest, said, found);
            }
        }
        Some((key, rest)) => {
            if let Some(inner) = node.get(key) {
                walk(inner, rest, said, found);
            }
        }
        None => match &node.value {
            Value::Table(members) => {
                found.extend(
                    members
                        .iter()
                        .map(|member| server(member.key.clone(), &member.value, said)),
                );
            }
            Value::List(items) => found.extend(items.iter().enumerate().map(|(index, item)| {
                let name = item.get("name").and_then(Node::text);
                server(
                    name.map_or_else(|| format!("#{}", index + 1), str::to_owned),
                    item,
                    said,
                )
            })),
            _ => {}
        },
    }
}

fn server<'a>(name: String, entry: &'a Node, said: Option<&str>) -> Server<'a> {
    let is = |key: &str, flag: bool| entry.get(key).is_some_and(|node| node.value == Value::Flag(flag));
    Server {
        name,
        entry,
        off: is("disabled", true) || is("enabled", false),
        standing: standing(entry, said).unwrap_or_else(Standing::Unclear),
    }
}

fn standing<'a>(entry: &'a Node, said: Option<&str>) -> Result<Standing<'a>, Unclear> {
    if entry.members().is_none() {
        return Err(Unclear::NoTable);
    }
    // Continue keeps the command in `transport`, older Zed configs the path in `command`.
    let (table, key) = match (entry.get("command"), entry.get("transport")) {
        (Some(command), _) if command.members().is_some() => (command, "path"),
        (None, Some(transport)) if transport.get("command").is_some() => (transport, "command"),
        _ => (entry, "command"),
    };
    for node in [entry, table] {
        if let Some(key) = node.repeated() {
            return Err(Unclear::Repeated { key: key.to_owned() });
        }
    }
    let Some(command) = table.member(key) else {
        let url = ["url", "serverUrl", "httpUrl"]
            .iter()
            .find_map(|key| entry.get(key).or_else(|| entry.get("transport")?.get(key)));
        let kind = entry.get("type").and_then(Node::text);
        return Ok(match (url, kind) {
            (Some(url), _) => Standing::Remote { url: url.text() },
            (None, Some("http" | "sse" | "streamable-http" | "ws")) => Standing::Remote { url: None },
            _ => Standing::Managed,
        });
    };
    let launch = launch(entry, table, command)?;
    if is_candor(launch.program, said) {
        let dashes = launch.args.iter().position(|word| *word == "--");
        return match dashes.filter(|at| at + 1 < launch.args.len()) {
            Some(dashes) => Ok(Standing::Wrapped(Wrapped { launch, dashes })),
            None => Err(Unclear::CandorAlone),
        };
    }
    // A program in a folder with a space in its name is one word; a command line is not.
    let is_line = launch.program.contains(char::is_whitespace) && !launch.program.contains('/');
    if is_line || launch.program.trim().is_empty() {
        return Err(Unclear::CommandLine);
    }
    Ok(Standing::Bare(launch))
}

fn launch<'a>(entry: &'a Node, table: &'a Node, command: &'a Member) -> Result<Launch<'a>, Unclear> {
    let program = command.value.text().ok_or(Unclear::CommandNotText)?;
    let args_member = table.member("args");
    let args = match args_member {
        None => Vec::new(),
        Some(member) => {
            let items = member.value.items().ok_or(Unclear::ArgsNotTexts)?;
            let texts: Option<Vec<&str>> = items.iter().map(Node::text).collect();
            texts.ok_or(Unclear::ArgsNotTexts)?
        }
    };
    let other = |key: &str| table.get(key).or_else(|| entry.get(key));
    let env = other("env").and_then(Node::members).unwrap_or_default();
    Ok(Launch {
        table,
        command,
        program,
        args_member,
        args,
        env: env
            .iter()
            .filter_map(|member| Some((member.key.as_str(), member.value.text()?)))
            .collect(),
        cwd: other("cwd").and_then(Node::text),
    })
}

#[cfg(test)]
mod tests {
    use super::super::document::Syntax;
    use super::*;

    /// How each server of a config stands, in a word.
    fn stand(text: &str) -> Vec<String> {
        let document = Document::parse(text.to_owned(), Syntax::Json).unwrap();
        let word = |server: Server<'_>| {
            let standing = match &server.standing {
                Standing::Bare(launch) => format!("bare {} {}", launch.program, launch.args.join(" ")),
                Standing::Wrapped(wrapped) => format!(
                    "wrapped [{}] {} {}",
                    wrapped.options().join(" "),
                    wrapped.program(),
                    wrapped.args().join(" ")
                ),
                Standing::Remote { url } => format!("remote {}", url.unwrap_or("?")),
                Standing::Managed => "managed".to_owned(),
                Standing::Unclear(why) => format!("unclear: {why}"),
            };
            format!("{}: {}", server.name, standing.trim_end())
        };
        servers(&document, None).into_iter().map(word).collect()
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            (
                r#"{"mcpServers":{"a":{"command":"x","args":["1"]}}}"#,
                "a: bare x 1",
            ),
            (
                r#"{"servers":{"a":{"type":"stdio","command":"x"}},"inputs":[]}"#,
                "a: bare x",
            ),
            (
                r#"{"context_servers":{"a":{"command":{"path":"x","args":["1"]}}}}"#,
                "a: bare x 1",
            ),
            (r#"{"context_servers":{"a":{"settings":{}}}}"#, "a: managed"),
            (r#"{"mcpServers":[{"name":"a","command":"x"}]}"#, "a: bare x"),
            (
                r#"{"experimental":{"modelContextProtocolServers":[{"transport":{"type":"stdio","command":"x"}}]}}"#,
                "#1: bare x",
            ),
            (
                r#"{"projects":{"/p":{"mcpServers":{"a":{"command":"x"}}}}}"#,
                "a: bare x",
            ),
            (
                r#"{"mcpServers":{"a":{"url":"https://h/mcp"}}}"#,
                "a: remote https://h/mcp",
            ),
            (
                r#"{"mcpServers":{"a":{"serverUrl":"https://h"}}}"#,
                "a: remote https://h",
            ),
            (r#"{"mcpServers":{"a":{"type":"sse"}}}"#, "a: remote ?"),
            (
                r#"{"mcpServers":{"a":{"command":"/b/candor","args":["--timeout","3s","--","x","--","1"]}}}"#,
                "a: wrapped [--timeout 3s] x -- 1",
            ),
            (
                r#"{"mcpServers":{"a":{"command":"/My Apps/x"}}}"#,
                "a: bare /My Apps/x",
            ),
        ] {
            assert_eq!(stand(text), [expected], "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_says_why_and_costs_no_other() {
        for (entry, why) in [
            ("7", "no object"),
            (r#"{"command":["x"]}"#, "not one text"),
            (r#"{"command":"x","args":"1"}"#, "list of texts"),
            (r#"{"command":"x","args":["1",2]}"#, "list of texts"),
            (r#"{"command":"x","command":"y"}"#, "more than once"),
            (r#"{"command":"npx -y x"}"#, "spaces"),
            (r#"{"command":"candor","args":["serve"]}"#, "behind `--`"),
            (r#"{"command":"candor","args":["--"]}"#, "behind `--`"),
        ] {
            let text = format!(r#"{{"mcpServers":{{"bad":{entry},"good":{{"command":"x"}}}}}}"#);
            let standing = stand(&text);
            assert!(
                standing[0].starts_with("bad: unclear") && standing[0].contains(why),
                "{standing:?}"
            );
            assert_eq!(standing[1], "good: bare x");
        }
    }

    #[test]
    fn a_config_without_a_place_for_servers_is_known() {
        let has = |text: &str| has_container(&Document::parse(text.to_owned(), Syntax::Json).unwrap());
        assert!(has(r#"{"mcpServers":{}}"#) && has(r#"{"mcp":{"servers":{}}}"#));
        assert!(!has(r#"{"mcp":1}"#) && !has("[]") && !has(r#"{"mcpServers":"x"}"#));
    }
}
