//! `candor contract draft`: a candor.toml for a person to finish, from what a server lists and what samples hold.

use std::fmt::Write as _;

use candor_core::contract::effect::EffectClass;
use serde_json::value::RawValue;

use super::args::DraftArgs;
use super::listed::Drafted;
use super::nouns::shared;
use super::recorded::Recorded;
use super::signs::{Sign, deciding, failing_texts, with_error};
use crate::doctor::probe::{Target, tools_of};
use crate::exit::Exit;
use crate::screen;

/// How many tools a draft names as those that may be asked.
const CANDIDATES: usize = 3;

pub(crate) fn run(args: &DraftArgs) -> anyhow::Result<Exit> {
    let recorded = match &args.samples {
        Some(path) => Recorded::load(path)?,
        None => Recorded::default(),
    };
    let Some((program, rest)) = args.server.split_first() else {
        anyhow::bail!(
            "no server; give its command after two dashes: candor contract draft -- npx some-server"
        );
    };
    let target = Target {
        place: "the server".to_owned(),
        name: args.name.clone().unwrap_or_else(|| program.clone()),
        program: program.clone(),
        args: rest.to_vec(),
        env: Vec::new(),
        cwd: None,
    };
    let listed = match tools_of(&target, args.timeout) {
        Ok(listed) => listed,
        Err(why) => {
            screen::note(&format!("no tools: {why}"));
            return Ok(Exit::UNREACHABLE);
        }
    };
    let name = args
        .name
        .clone()
        .or(listed.name)
        .unwrap_or_else(|| "server".to_owned());
    let text = draft(&name, &listed.tools, &recorded);
    screen::print(|out| write!(out, "{text}"))?;
    Ok(Exit::GOOD)
}

/// The text of the draft. Lines that begin with `# ` are for the reader; those that begin with `#` and no space are
/// proposals, good TOML once the sign is taken away.
pub(super) fn draft(name: &str, definitions: &[Box<RawValue>], recorded: &Recorded) -> String {
    let tools: Vec<Drafted> = definitions
        .iter()
        .filter_map(|definition| Drafted::of(definition, recorded))
        .collect();
    let server = format!("servers.{}", key(name));
    let mut out = format!(
        "# A draft of contracts for the server {}: finish it, then wrap the server with it:\n\
         #   candor --config candor.toml -- …\n\
         # Nothing in it holds yet. Lines that begin with \"#\" and no space are proposals: take the sign away where one is\n\
         # true. What a tool says of itself, and what a name or a field suggests, is not evidence.\n\
         # The keys are explained in docs/config.md.\n\n[{server}]\n# Believe every hint of this server at once, in place of each effect below:\n\
         #trust_annotations = true\n",
        comment(name)
    );
    for (at, tool) in tools.iter().enumerate() {
        let is_first = tools.iter().take(at).all(|other| other.name != tool.name);
        if is_first {
            about(
                &mut out,
                &format!("{server}.tools.{}", key(&tool.name)),
                tool,
                &tools,
            );
        }
    }
    out
}

fn about(out: &mut String, table: &str, tool: &Drafted, all: &[Drafted]) {
    let mut say = |line: &str| {
        let _ = writeln!(out, "{line}");
    };
    say(&format!("\n[{table}]"));
    for line in effect(tool) {
        say(&line);
    }
    let texts = failing_texts(tool);
    if !texts.is_empty() {
        let at = lines(texts.values().flatten().copied());
        let clauses = texts
            .keys()
            .map(|pattern| format!("{{ matches = {}, means = \"failed\" }}", key_text(pattern)));
        say(&format!(
            "# Unflagged texts begin like failures (line {at}). Is there no answer that begins so and is none?"
        ));
        say(&format!("#text = [{}]", clauses.collect::<Vec<_>>().join(", ")));
    }
    // Tables come last: what follows one belongs to it.
    outcome(&mut say, table, tool);
    if !tool.seems_to_read() {
        read_back(&mut say, table, tool, all);
    }
}

fn effect(tool: &Drafted) -> Vec<String> {
    let proposal = |class: EffectClass| format!("#effect = \"{class}\"");
    match tool.claimed {
        Some(class) => vec![
            "# Its own hint, which nobody has verified:".to_owned(),
            proposal(class),
        ],
        None if tool.seems_to_read() => vec![
            "# It gives no hint; its name sounds as if it changes nothing:".to_owned(),
            proposal(EffectClass::Read),
        ],
        None => vec![
            "# It gives no hint. Does it change something (write), or the same once and twice (idempotent)?"
                .to_owned(),
            proposal(EffectClass::Write),
        ],
    }
}

fn outcome(say: &mut impl FnMut(&str), table: &str, tool: &Drafted) {
    let (sign, errors) = (deciding(tool), with_error(tool));
    if sign.is_none() && errors.is_empty() {
        return;
    }
    if !errors.is_empty() {
        let lines = lines(errors.iter().map(|(line, _)| *line));
        say(&format!(
            "# Samples hold a member \"error\" (line {lines}). Does it mean that the call failed?"
        ));
    }
    if let Some(sign) = &sign {
        say(&format!(
            "# Its results have a field {:?} {}. Does it say how the call ended?",
            sign.field, sign.seen
        ));
    }
    say(&format!("#[{table}.outcome]"));
    if sign.as_ref().is_some_and(|sign| sign.in_text) || errors.iter().any(|(_, in_text)| *in_text) {
        say("#from = \"text\"");
    }
    if let Some(sign) = &sign {
        values(say, sign);
    }
    if !errors.is_empty() {
        say("#failed_where = [\"/error\"]");
    }
}

fn values(say: &mut impl FnMut(&str), sign: &Sign) {
    say(&format!("#pointer = \"/{}\"", sign.field));
    for (list, values) in &sign.lists {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        say(&format!("#{list} = [{}]", values.join(", ")));
    }
    if !sign.unclear.is_empty() {
        let values: Vec<String> = sign.unclear.iter().map(|value| comment(value)).collect();
        say(&format!("# In none of these lists yet: {}", values.join(", ")));
    }
}

fn read_back(say: &mut impl FnMut(&str), table: &str, tool: &Drafted, all: &[Drafted]) {
    let mut candidates: Vec<(usize, &Drafted)> = all
        .iter()
        .filter(|other| other.name != tool.name && other.seems_to_read())
        .map(|other| (shared(&tool.words, &other.words), other))
        .filter(|(shared, other)| *shared > 0 || other.needs_nothing)
        .collect();
    candidates.sort_by_key(|(shared, other)| (std::cmp::Reverse(*shared), !other.needs_nothing));
    let Some((_, first)) = candidates.first() else {
        say("# No tool of this server seems to show what it left behind.");
        return;
    };
    let names: Vec<String> = candidates
        .iter()
        .take(CANDIDATES)
        .map(|(_, other)| comment(&other.name))
        .collect();
    say(&format!(
        "# Tools that may show what it left behind: {}",
        names.join(", ")
    ));
    say("# One is asked only where it is known to change nothing: give it effect = \"read\" too.");
    say(&format!("#[{table}.read_back]"));
    // In a value, unlike in a key or a pattern, `${` would be a variable.
    say(&format!("#tool = {}", key_text(&first.name.replace("${", "$${"))));
    if !first.needs_nothing {
        say("# It needs arguments: each is an expression over args and result.");
        say("#arguments = {}");
    }
    say(
        "# True where its answer shows that the call took effect: an expression over args, result, answer and text.",
    );
    say("#applied = \"false\"");
    say("# True where it shows that it did not:");
    say("#not_applied = \"false\"");
    say("# Look also after a success, before it is told as done:");
    say("#prove = true");
}

/// A key of TOML: bare where it may be, else a string.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { name.to_owned() } else { key_text(name) }
}

/// A string of TOML, on one line: JSON's escapes are TOML's too, but for one sign that JSON leaves as it is.
fn key_text(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.replace('\u{7f}', "\\u007F")
}

/// A server's words in a comment: one line, without signs that do something to a terminal.
fn comment(text: &str) -> String {
    screen::line(text)
}

fn lines(at: impl IntoIterator<Item = usize>) -> String {
    let at: Vec<String> = at.into_iter().map(|line| line.to_string()).collect();
    at.join(", ")
}

#[cfg(test)]
mod tests {
    use candor_gateway::config::Config;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn tools() -> Vec<Box<RawValue>> {
        let output =
            json!({ "type": "object", "properties": { "status": { "enum": ["done", "queued", "odd"] } } });
        [
            json!({ "name": "add_task", "inputSchema": { "type": "object", "required": ["name"] }, "outputSchema": output,
                    "annotations": { "readOnlyHint": false } }),
            json!({ "name": "list_tasks", "inputSchema": { "type": "object" } }),
            json!({ "name": "get.task \"x\"\n", "annotations": { "readOnlyHint": true } }),
            json!({ "name": "${HOME}" }),
            json!({ "name": "run", "inputSchema": { "type": "object" } }),
            json!({ "title": "no name" }),
            json!({ "name": "run" }),
        ]
        .iter()
        .map(|tool| to_raw_value(tool).unwrap())
        .collect()
    }

    fn samples() -> Recorded {
        let mut recorded = Recorded::default();
        for (at, line) in [
            r#"{"tool":"run","result":{"content":[{"type":"text","text":"Database error: no such table"}]}}"#,
            r#"{"tool":"run","result":{"content":[{"type":"text","text":"{\"success\":false,\"error\":\"x\"}"}]}}"#,
            r#"{"tool":"list_tasks","result":{"content":[{"type":"text","text":"[]"}]}}"#,
        ]
        .iter()
        .enumerate()
        {
            recorded.take_line(at + 1, line).unwrap();
        }
        recorded
    }

    /// The draft with its proposals accepted.
    fn accepted(draft: &str) -> String {
        let take = |line: &str| match line.strip_prefix('#') {
            Some(proposal) if !proposal.starts_with(' ') => proposal.to_owned(),
            _ => line.to_owned(),
        };
        draft.lines().map(take).collect::<Vec<_>>().join("\n")
    }

    fn parsed(text: &str) -> Config {
        Config::parse("candor.toml", text, &|_| None).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"))
    }

    #[test]
    fn a_draft_is_a_good_file_in_which_nothing_holds_and_so_is_one_that_is_accepted() {
        for recorded in [Recorded::default(), samples()] {
            let draft = draft("my \"server\"", &tools(), &recorded);
            let config = parsed(&draft);
            let server = &config.servers["my \"server\""];
            assert_eq!(server.tools.len(), 5, "{draft}");
            assert!(server.tools.contains_key("${HOME}"), "{draft}");
            for (name, tool) in &server.tools {
                assert!(tool.effect.is_none() && tool.outcome.is_none(), "{name}");
                assert!(tool.recovery.read_back.is_none(), "{name}");
            }
            let config = parsed(&accepted(&draft));
            let add = &config.servers["my \"server\""].tools["add_task"];
            let read_back = &add.recovery.read_back.as_ref().unwrap().value;
            assert_eq!(read_back.tool, "list_tasks");
            assert!(draft.contains("give it effect = \"read\" too"), "{draft}");
            assert!(add.outcome.is_some() && add.effect.is_some());
        }
    }

    #[test]
    fn samples_show_what_no_schema_tells() {
        let with = draft("s", &tools(), &samples());
        let without = draft("s", &tools(), &Recorded::default());
        for proposal in [
            "#text = [{ matches = \"^Database error: \", means = \"failed\" }]",
            "#failed_where = [\"/error\"]",
            "#from = \"text\"",
            "#failed = [false]",
        ] {
            assert!(with.contains(proposal), "{proposal}\n{with}");
            assert!(!without.contains(proposal), "{proposal}\n{without}");
        }
        assert!(
            without.contains("# In none of these lists yet: \"odd\""),
            "{without}"
        );
    }
}
