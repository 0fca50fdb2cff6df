//! Putting Candor before a server's command, and taking it out again: edits at the places of single values.

use std::ops::Range;

use candor_core::wire::encode::Edits;

use super::document::{Document, Node, Syntax};
use super::servers::{Launch, Wrapped};

/// What is put in front of a server's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Front {
    /// The program.
    pub(super) program: String,
    /// Its options; `--` follows them.
    pub(super) options: Vec<String>,
}

/// Puts Candor before a server's command. The old command keeps its own spelling.
pub(super) fn wrap(document: &Document, launch: &Launch<'_>, front: &Front, edits: &mut Edits) {
    let old = document.slice(launch.command.value.span.clone());
    let mut words: Vec<String> = front
        .options
        .iter()
        .map(|option| quoted(option, document.syntax))
        .collect();
    words.push(quoted("--", document.syntax));
    words.push(old.to_owned());
    edits.replace(
        launch.command.value.span.clone(),
        quoted(&front.program, document.syntax),
    );
    match launch.args_member.map(|member| &member.value) {
        Some(args) => {
            let (at, what) = before_items(document, args, &words);
            edits.insert(at, what);
        }
        None => {
            let (at, what) = new_args(document, launch, &format!("[{}]", words.join(", ")));
            edits.insert(at, what);
        }
    }
}

/// The words as the first items of a list, spaced as its own are.
fn before_items(document: &Document, list: &Node, words: &[String]) -> (usize, String) {
    let open = list.span.start + 1;
    let items = list.items().unwrap_or_default();
    let Some(first) = items.first() else {
        return (open, words.join(", "));
    };
    let lead = document.slice(open..first.span.start);
    let gap = items
        .get(1)
        .map(|second| document.slice(first.span.end..second.span.start));
    let between = match own_line(lead) {
        Some(line) => format!(",{line}"),
        None if gap == Some(",") => ",".to_owned(),
        None => ", ".to_owned(),
    };
    let mut what = String::new();
    for word in words {
        what.push_str(word);
        what.push_str(&between);
    }
    (first.span.start, what)
}

/// A member `args` for a table that has none, behind the command.
fn new_args(document: &Document, launch: &Launch<'_>, list: &str) -> (usize, String) {
    let (key, value) = (&launch.command.key_span, &launch.command.value.span);
    if is_lines(document, launch.table) {
        let line = document
            .text
            .get(..key.start)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        // White space, and with dotted keys the table's name.
        let lead = document.slice(line..key.start);
        let rest = document.text.get(value.end..).unwrap_or_default();
        let length = rest.find('\n').unwrap_or(rest.len());
        let (length, end) = match rest.get(..length).and_then(|rest| rest.strip_suffix('\r')) {
            Some(rest) => (rest.len(), "\r\n"),
            None => (length, "\n"),
        };
        return (value.end + length, format!("{end}{lead}args = {list}"));
    }
    let before = document.slice(launch.table.span.start + 1..key.start);
    let before = before.rsplit(',').next().unwrap_or_default();
    let lead = match own_line(before) {
        Some(line) => line.to_owned(),
        None if before.is_empty() && document.syntax == Syntax::Json => String::new(),
        None => " ".to_owned(),
    };
    let (name, colon) = match document.syntax {
        Syntax::Json => ("\"args\"", document.slice(key.end..value.start)),
        Syntax::Toml => ("args", " = "),
    };
    (value.end, format!(",{lead}{name}{colon}{list}"))
}

/// Is this a table of TOML that has each member on a line of its own?
fn is_lines(document: &Document, table: &Node) -> bool {
    document.syntax == Syntax::Toml && !document.slice(table.span.clone()).starts_with('{')
}

/// The line break and the indentation, if what stands before a value ends with these.
fn own_line(before: &str) -> Option<&str> {
    let newline = before.rfind('\n')?;
    let start = if before.get(..newline)?.ends_with('\r') {
        newline - 1
    } else {
        newline
    };
    let line = before.get(start..)?;
    let blank = line.len() - line.trim_start().len();
    line.get(..blank)
}

/// A text as the file writes texts. TOML's basic strings have JSON's escapes, but want one more.
fn quoted(text: &str, syntax: Syntax) -> String {
    let json = serde_json::Value::from(text).to_string();
    match syntax {
        Syntax::Json => json,
        Syntax::Toml => json.replace('\u{7f}', "\\u007f"),
    }
}

/// Takes Candor out. `had_args` is what is known of the entry before Candor came: without `args`, the member goes too.
pub(super) fn unwrap(document: &Document, wrapped: &Wrapped<'_>, had_args: bool, edits: &mut Edits) {
    let launch = &wrapped.launch;
    let Some(member) = launch.args_member else { return };
    let items = member.value.items().unwrap_or_default();
    let (Some(first), Some(own)) = (items.first(), items.get(wrapped.dashes + 1)) else {
        return;
    };
    edits.replace(
        launch.command.value.span.clone(),
        document.slice(own.span.clone()).to_owned(),
    );
    match items.get(wrapped.dashes + 2) {
        Some(kept) => edits.replace(first.span.start..kept.span.start, ""),
        None if !had_args => edits.replace(whole_member(document, wrapped), ""),
        None => {
            let close = member.value.span.end - 1;
            let rest = document.slice(own.span.end..close);
            let comma = if rest.trim_start().starts_with(',') {
                rest.find(',').map_or(0, |at| at + 1)
            } else {
                0
            };
            edits.replace(first.span.start..own.span.end + comma, "");
        }
    }
}

/// The member `args` with what separates it from the command before it; its list's items alone, if something else
/// stands between.
fn whole_member(document: &Document, wrapped: &Wrapped<'_>) -> Range<usize> {
    let launch = &wrapped.launch;
    let Some(member) = launch.args_member else {
        return 0..0;
    };
    let end = member.value.span.end;
    if is_lines(document, launch.table) {
        let before = document.text.get(..member.key_span.start).unwrap_or_default();
        let newline = before.rfind('\n').unwrap_or(0);
        let start = if before.get(..newline).is_some_and(|before| before.ends_with('\r')) {
            newline - 1
        } else {
            newline
        };
        return start..end;
    }
    let start = launch.command.value.span.end;
    let between = document.text.get(start..member.key_span.start);
    if between.is_some_and(|between| between.trim() == ",") {
        return start..end;
    }
    member.value.span.start + 1..end - 1
}

#[cfg(test)]
mod tests {
    use super::super::servers::{Standing, servers};
    use super::*;

    fn front(options: &[&str]) -> Front {
        Front {
            program: "candor".to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
        }
    }

    fn wrapped(text: &str, syntax: Syntax, options: &[&str]) -> String {
        let document = Document::parse(text.to_owned(), syntax).unwrap();
        let mut edits = Edits::new();
        for server in servers(&document, None) {
            if let Standing::Bare(launch) = &server.standing {
                wrap(&document, launch, &front(options), &mut edits);
            }
        }
        edits.apply(text)
    }

    fn unwrapped(text: &str, syntax: Syntax, had_args: bool) -> String {
        let document = Document::parse(text.to_owned(), syntax).unwrap();
        let mut edits = Edits::new();
        for server in servers(&document, None) {
            if let Standing::Wrapped(wrapped) = &server.standing {
                unwrap(&document, wrapped, had_args, &mut edits);
            }
        }
        edits.apply(text)
    }

    /// Before, and after; and back again, byte for byte.
    fn both_ways(syntax: Syntax, before: &str, after: &str) {
        assert_eq!(wrapped(before, syntax, &[]), after);
        assert_eq!(wrapped(after, syntax, &[]), after, "twice is once");
        assert_eq!(
            unwrapped(after, syntax, before.contains("args")),
            before,
            "{after}"
        );
    }

    #[test]
    fn json_keeps_its_form() {
        let both = |before: &str, after: &str| {
            let whole = |entry: &str| format!("{{ \"mcpServers\": {{\n  \"a\": {entry} // c\n}},}}");
            both_ways(Syntax::Json, &whole(before), &whole(after));
        };
        both(
            r#"{ "command": "npx", "args": ["-y", "x"], "env": {"K": "v"} }"#,
            r#"{ "command": "candor", "args": ["--", "npx", "-y", "x"], "env": {"K": "v"} }"#,
        );
        both(
            r#"{"command":"npx","args":["-y","x"]}"#,
            r#"{"command":"candor","args":["--","npx","-y","x"]}"#,
        );
        both(
            r#"{"args": [], "command": "n\u00e9"}"#,
            r#"{"args": ["--", "n\u00e9"], "command": "candor"}"#,
        );
        both(
            r#"{"command":"npx"}"#,
            r#"{"command":"candor","args":["--", "npx"]}"#,
        );
        both(
            r#"{"x":1, "command" : "npx" }"#,
            r#"{"x":1, "command" : "candor", "args" : ["--", "npx"] }"#,
        );
        both(
            "{\n    \"command\": \"npx\", // why\n    \"args\": [\n      // first\n      \"-y\",\n      \"x\",\n    ],\n  }",
            "{\n    \"command\": \"candor\", // why\n    \"args\": [\n      // first\n      \"--\",\n      \"npx\",\n      \"-y\",\n      \"x\",\n    ],\n  }",
        );
        both(
            "{\r\n\t\"command\": \"npx\"\r\n}",
            "{\r\n\t\"command\": \"candor\",\r\n\t\"args\": [\"--\", \"npx\"]\r\n}",
        );
        both(
            r#"{ "command": { "path": "npx", "args": ["x"] } }"#,
            r#"{ "command": { "path": "candor", "args": ["--", "npx", "x"] } }"#,
        );
    }

    #[test]
    fn toml_keeps_its_form() {
        let both = |before: &str, after: &str| both_ways(Syntax::Toml, before, after);
        both(
            "# top\n[mcp_servers.a]\ncommand = 'C:\\x' # why\nargs = [ \"-y\" , 'x' ]\n",
            "# top\n[mcp_servers.a]\ncommand = \"candor\" # why\nargs = [ \"--\", 'C:\\x', \"-y\" , 'x' ]\n",
        );
        both(
            "[mcp_servers.a]\n  command = \"npx\" # why\n\n[other]\nx = 1\n",
            "[mcp_servers.a]\n  command = \"candor\" # why\n  args = [\"--\", \"npx\"]\n\n[other]\nx = 1\n",
        );
        both(
            "[mcp_servers]\na = { command = \"npx\" }\r\nb.command = \"uvx\"\r\n",
            "[mcp_servers]\na = { command = \"candor\", args = [\"--\", \"npx\"] }\r\nb.command = \"candor\"\r\nb.args = [\"--\", \"uvx\"]\r\n",
        );
        both(
            "mcp_servers.a.command = \"npx\"",
            "mcp_servers.a.command = \"candor\"\nmcp_servers.a.args = [\"--\", \"npx\"]",
        );
    }

    #[test]
    fn options_come_before_the_dashes() {
        let after = wrapped(
            r#"{"mcpServers":{"a":{"command":"npx","args":["x"]}}}"#,
            Syntax::Json,
            &["--read", "list_*"],
        );
        assert!(
            after.contains(r#"["--read", "list_*", "--", "npx", "x"]"#),
            "{after}"
        );
        assert!(unwrapped(&after, Syntax::Json, true).contains(r#""command":"npx","args":["x"]"#));
    }
}
