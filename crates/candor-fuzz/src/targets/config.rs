//! Any text as `candor.toml`: it is taken or every fault has its place in the text, and what is taken has terms for
//! every tool.

use candor_gateway::config::{CommandLine, Config, ConfigFault};

use crate::broken::{Broken, law};
use crate::input::text;

/// Words that a configuration is made of.
pub(crate) const WORDS: &[&str] = &[
    "[servers.rooms]\n",
    "[servers.rooms.tools.book_room]\n",
    "[[servers.rooms.tools.book_room.rules]]\n",
    "[servers.rooms.tools.book_room.outcome]\n",
    "ledger = \"${HOME}/x\"\n",
    "timeout = \"40s\"\n",
    "timeout = \"${T:-1h}\"\n",
    "arguments = \"coerce\"\n",
    "effect = \"read\"\n",
    "nothing_done_on = [-32602, 429]\n",
    "pointer = \"/a~1b\"\n",
    "completed = [\"ok\", 1.50, true]\n",
    "failed = [inf, -nan, 0x10, 1e400]\n",
    "check = \"args.a > 1\"\n",
    "check = '''args.a ==\n  b'''\n",
    "message = \"is {{ args.a }}\"\n",
    "message = \"{{\"\n",
    "name = \"r\"\n",
    "path = \"/a\"\n",
    "time_zone = \"Europe/Zurich\"\n",
    "state_tool = \"t\"\n",
    "reference = \"/id\"\n",
    "\"\"\"",
    "'''",
    "\\u00e9",
    "${",
    "${A}",
    "$${A}",
    "${A:-${B}}",
    "# é\n",
    "\r\n",
    "1979-05-27T07:32:00Z",
    "a.b.c = 1\n",
    "[[a]]\n",
    "{x=",
    "=",
];

/// Most faults that are listed, the one that counts the rest included.
const MOST_FAULTS: usize = 51;

/// What a variable holds: it may be secret, so no fault repeats it.
const VALUE: &str = "V4lue-0f-A";

fn environment(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/ada".to_owned()),
        "A" => Some(format!("{VALUE}\"\n\u{e9}")),
        _ => None,
    }
}

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let source = text(input);
    match Config::parse("candor.toml", &source, &environment) {
        Ok(config) => {
            let line = CommandLine::default();
            for (server, clauses) in &config.servers {
                for tool in clauses
                    .tools
                    .keys()
                    .map(String::as_str)
                    .chain(["", "no such tool"])
                {
                    config.for_tool(server, tool, &line);
                }
            }
            Ok(())
        }
        Err(faults) => {
            let listed = !faults.is_empty() && faults.len() <= MOST_FAULTS;
            law("a refused file has faults, and not without end", listed, || {
                format!("{faults:?}")
            })?;
            let ordered = faults.is_sorted_by_key(|fault| fault.span.start);
            law("faults come in the order of the file", ordered, || {
                format!("{faults:?}")
            })?;
            faults.iter().try_for_each(|fault| placed(&source, fault))
        }
    }
}

fn placed(source: &str, fault: &ConfigFault) -> Result<(), Broken> {
    let seen = || format!("{fault:?}");
    law(
        "a fault's span is text of the file",
        source.get(fault.span.clone()).is_some(),
        seen,
    )?;
    let before = source.get(..fault.span.start).unwrap_or_default();
    let line = before.split('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let right = usize::try_from(fault.line) == Ok(line) && usize::try_from(fault.column) == Ok(column);
    law("a fault's line and column are those of its span", right, seen)?;
    let told = format!("{fault}{}", fault.help().unwrap_or_default());
    law(
        "a fault is told in one line",
        !told.contains(['\n', '\r']),
        || format!("{told:?}"),
    )?;
    let repeats = told.contains(VALUE) && !source.contains(VALUE);
    law("a fault does not repeat a variable's value", !repeats, || told)
}
