//! Whole files: what they say, what is wrong with them, and what the documents say of both.

use std::fmt::Write;
use std::time::Duration;

use candor_core::arguments::check::Mode;
use candor_core::contract::effect::{EffectClass, Source};
use candor_core::contract::mapping::pointer::Pointer;
use candor_core::contract::schema::Formats;
use candor_core::contract::terms::{Refusal, ShapeMode, ToolTerms};

use super::*;

const GOOD: &str = r#"
ledger = "${HOME}/ledger.sqlite"
ledger_required = true
log_level = "info"
timeout = "${TIMEOUT:-55s}"
arguments = "warn"

[servers.rooms]
trust_annotations = true
arguments = "enforce"
time_zone = "Europe/Zurich"
output = "strict"
strict_names = true
timeout = "40s"

[servers.rooms.tools.book_room]
effect = "write"
arguments = "coerce"
deadline = "30s"
output = "warn"
strict_names = false
format = "assert"
nothing_done_on = [-32602, 429]

[servers.rooms.tools.book_room.outcome]
pointer = "/status"
completed = ["booked", true, 1, 0x10]
accepted = ["queued"]
rejected = ["taken"]
failed = [0.5]
partial = ["some"]
code = "/code"
message = "/message"
reference = "/job"
reference_name = "job"
state_tool = "get_job"
state_argument = "id"
suggestion = "/suggestion"

[[servers.rooms.tools.book_room.rules]]
name = "future"
check = "date(args.departureDate, 'dd/mm/yyyy') > now"
message = "departureDate must be in the future; it is now {{ format(now, 'dd/mm/yyyy') }}"
path = "/departureDate"

[servers.rooms.tools.list_rooms]
effect = "read"

[servers.other.tools.list_things]
"#;

fn environment(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/ada".to_owned()),
        "MODE" => Some("hunter2".to_owned()),
        "GOOD_MODE" => Some("off".to_owned()),
        _ => None,
    }
}

fn parse(source: &str) -> Result<Config, Vec<ConfigFault>> {
    Config::parse("candor.toml", source, &environment)
}

fn good() -> Config {
    parse(GOOD).unwrap_or_else(|faults| panic!("{}", shown(GOOD, &faults)))
}

/// What the command line's renderer gets, as plain text.
fn shown(source: &str, faults: &[ConfigFault]) -> String {
    let mut out = String::new();
    for fault in faults {
        writeln!(out, "{fault}").unwrap();
        let marked = source.get(fault.span.clone()).unwrap();
        writeln!(out, "  marks {:?}", marked.chars().take(60).collect::<String>()).unwrap();
        if let Some(help) = fault.help() {
            writeln!(out, "  help: {help}").unwrap();
        }
    }
    out
}

fn line(terms: &ToolTerms) -> String {
    let clause = |name: &str, value: Option<(String, &Source)>| {
        value
            .map(|(value, source)| format!("{name} {value} ({source}); "))
            .unwrap_or_default()
    };
    let some = |value: String, source| Some((value, source));
    [
        clause(
            "class",
            terms
                .class
                .as_ref()
                .map(|class| (class.value.to_string(), &class.source)),
        ),
        clause(
            "arguments",
            some(format!("{:?}", terms.arguments.value), &terms.arguments.source),
        ),
        clause(
            "strict_names",
            some(terms.strict_names.value.to_string(), &terms.strict_names.source),
        ),
        clause(
            "output",
            some(format!("{:?}", terms.output.value), &terms.output.source),
        ),
        clause(
            "formats",
            some(format!("{:?}", terms.formats.value), &terms.formats.source),
        ),
        clause(
            "trust",
            some(
                terms.trust_annotations.value.to_string(),
                &terms.trust_annotations.source,
            ),
        ),
        clause(
            "deadline",
            terms
                .deadline
                .as_ref()
                .map(|limit| (format!("{:?}", limit.value), &limit.source)),
        ),
        clause(
            "mapping",
            terms.mapping.as_ref().map(|map| {
                (
                    map.value.pointer.as_ref().map_or("", Pointer::as_str).to_owned(),
                    &map.source,
                )
            }),
        ),
        terms
            .rules
            .iter()
            .map(|rule| format!("rule {} ({}); ", rule.value.name(), rule.source))
            .collect(),
        format!(
            "nothing done on {:?}",
            terms
                .nothing_done_on
                .iter()
                .map(|(refusal, source)| format!("{refusal:?} ({source})"))
                .collect::<Vec<_>>()
        ),
    ]
    .concat()
}

#[test]
fn every_clause_knows_where_it_came_from() {
    let config = good();
    let nothing = CommandLine::default();
    let everything = CommandLine {
        read_globs: Glob::list("list_*,book_*"),
        trust_annotations: true,
        timeout: Some(Duration::from_secs(9)),
        arguments: Some(Mode::Off),
        principal: None,
    };
    let mut out = String::new();
    for (server, tool, command_line) in [
        ("rooms", "book_room", &nothing),
        ("rooms", "list_rooms", &nothing),
        ("rooms", "unheard_of", &nothing),
        ("other", "list_things", &nothing),
        ("unheard_of", "book_room", &nothing),
        ("rooms", "book_room", &everything),
        ("unheard_of", "unheard_of", &everything),
    ] {
        writeln!(
            out,
            "{server} {tool}: {}",
            line(&config.for_tool(server, tool, command_line))
        )
        .unwrap();
    }
    writeln!(
        out,
        "no file: {}",
        line(&Config::default().for_tool("rooms", "book_room", &nothing))
    )
    .unwrap();
    insta::assert_snapshot!(out);
}

#[test]
fn a_file_that_names_other_servers_only_is_told() {
    let config = good();
    assert_eq!(config.unmatched("rooms"), None);
    let told = config.unmatched("Rooms").unwrap().to_string();
    for part in ["\"Rooms\"", "\"other\", \"rooms\"", "--name"] {
        assert!(told.contains(part), "no {part} in {told}");
    }
    for nothing_to_match in [Config::default(), parse("arguments = \"warn\"").unwrap()] {
        assert_eq!(nothing_to_match.unmatched("Rooms"), None);
    }
    let many: String = (0..20).map(|n| format!("[servers.s{n}]\n")).collect();
    let told = parse(&many).unwrap().unmatched("a\u{1b}[2J").unwrap().to_string();
    assert!(told.contains(" and 12 more"), "{told}");
    assert!(!told.contains('\u{1b}'), "a name reached the log raw: {told:?}");
}

#[test]
fn a_good_file_says_what_is_written_in_it() {
    let config = good();
    assert_eq!(
        config.ledger.as_ref().map(|ledger| ledger.value.as_str()),
        Some("/home/ada/ledger.sqlite")
    );
    assert_eq!(
        config.ledger_required.as_ref().map(|required| required.value),
        Some(true)
    );
    assert_eq!(
        config.log_level.as_ref().map(|level| level.value),
        Some(LogLevel::Info)
    );
    assert_eq!(
        config.timeout.as_ref().map(|timeout| timeout.value),
        Some(Duration::from_secs(55))
    );
    let terms = config.for_tool("rooms", "book_room", &CommandLine::default());
    assert_eq!(terms.class.map(|class| class.value), Some(EffectClass::Write));
    assert_eq!(
        (terms.output.value, terms.formats.value),
        (ShapeMode::Warn, Formats::Assert)
    );
    assert_eq!(
        terms.nothing_done_on.into_keys().collect::<Vec<_>>(),
        [Refusal::JsonRpc(-32602), Refusal::Http(429)]
    );
    let mapping = terms.mapping.unwrap().value;
    let read = mapping
        .read(Some(&serde_json::json!({"status": 16, "job": "4711"})), &[])
        .unwrap();
    assert_eq!(read.reading, candor_core::contract::mapping::Reading::Completed);
    let reference = read.reference.unwrap();
    assert_eq!(
        (reference.value.as_str(), reference.noun.as_deref()),
        ("4711", Some("job"))
    );
    assert_eq!(reference.state.unwrap().tool, "get_job");
}

#[test]
fn an_empty_file_is_no_file() {
    let config = parse("").unwrap();
    assert_eq!(
        line(&config.for_tool("a", "b", &CommandLine::default())),
        line(&ToolTerms::default())
    );
}

#[test]
fn all_faults_are_found_at_once() {
    let source = r#"
ledgr = "x"
ledger_required = "yes"
log-level = "info"
timeout = 30
arguments = "enforced"
time_zone = "Europe/Zürich"

[servers.rooms]
trust = true
arguments = "${MODE}"
output = "${UNSET}"

[servers.rooms.tools.book_room]
efect = "write"
deadline = "1h"
nothing_done_on = [-32602, 200, "-32602"]
outcome = { pointr = "/status", completed = ["booked", 1], rejected = ["taken", 1.0], failed = "error", code = "code" }

[[servers.rooms.tools.book_room.rules]]
name = "future"
check = "date(args.departureDate, 'DD/MM/YYYY') > now"
message = "m"

[[servers.rooms.tools.book_room.rules]]
name = "future"
check = '''
args.a > 1 &&
  arg.b > 1'''
message = "now is {{ nwo }}"
pth = "/a"

[[servers.rooms.tools.book_room.rules]]
check = "args.a > \u0031 +"

[servers.rooms.tools.cancel.outcome]
pointer = "/status"
reference_name = "job"
state_tool = "get_job"

[server.other]
"#;
    let faults = parse(source).unwrap_err();
    insta::assert_snapshot!(shown(source, &faults));
}

#[test]
fn what_is_no_toml_is_said_alone() {
    for source in [
        "a = ",
        "[servers",
        "a = 1\na = 2",
        "ledger = \"x\nunknown = 1",
        "\u{0}",
    ] {
        let faults = parse(source).unwrap_err();
        assert!(
            faults
                .iter()
                .all(|fault| matches!(fault.kind, FaultKind::Syntax { .. })),
            "{}",
            shown(source, &faults)
        );
    }
}

#[test]
fn a_secret_from_the_environment_is_in_no_message() {
    let source = "arguments = \"${MODE}\"\ntimeout = \"${MODE}\"\ntime_zone = \"${MODE}\"\n[servers.a.tools.b]\n\
                  outcome = { pointer = \"${MODE}\" }\n[[servers.a.tools.b.rules]]\nname = \"n\"\nmessage = \"m\"\n\
                  check = \"args.a == '${MODE}' + ${MODE}2\"";
    let faults = parse(source).unwrap_err();
    assert_eq!(faults.len(), 6, "{}", shown(source, &faults));
    let expanded = shown(source, &faults);
    assert!(!expanded.contains("hunter2"), "{expanded}");
    assert!(parse("arguments = \"${GOOD_MODE}\"").is_ok());
}

#[test]
fn faults_beyond_the_first_fifty_are_counted() {
    let source: String = (0..60).map(|n| format!("unknown_{n} = 1\n")).collect();
    let faults = parse(&source).unwrap_err();
    assert_eq!(faults.len(), 51);
    assert_eq!(faults.last().unwrap().kind, FaultKind::More { count: 10 });
    let huge = format!("# {}", "x".repeat(2_000_000));
    assert!(matches!(
        parse(&huge).unwrap_err()[0].kind,
        FaultKind::FileTooLarge { .. }
    ));
}

#[test]
fn a_file_is_loaded_or_its_trouble_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("candor.toml");
    assert!(matches!(
        Config::load(&path, &environment),
        Err(LoadFault::Unreadable { .. })
    ));
    std::fs::write(&path, "ledgr = 1").unwrap();
    let Err(LoadFault::Invalid { text, faults, .. }) = Config::load(&path, &environment) else {
        panic!("an unknown key is a fault")
    };
    assert_eq!((text.as_str(), faults.len()), ("ledgr = 1", 1));
    std::fs::write(&path, GOOD).unwrap();
    assert!(Config::load(&path, &environment).is_ok());
}

mod outcome;
mod principals;
mod recovery;
mod redact;

mod documents {
    use std::path::PathBuf;

    use serde_json::Value;

    use super::*;

    fn document(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(name)
    }

    #[test]
    fn the_published_schema_is_the_generated_one() {
        let generated = format!("{:#}\n", json_schema());
        let path = document("candor.schema.json");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == generated,
            "docs/candor.schema.json is stale: run the tests with UPDATE=1"
        );
    }

    #[test]
    fn the_schema_refuses_unknown_keys_everywhere_and_knows_no_null() {
        fn walk(schema: &Value, tables: &mut Vec<usize>) {
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                assert_eq!(
                    schema.get("additionalProperties"),
                    Some(&Value::Bool(false)),
                    "{schema}"
                );
                assert!(
                    properties
                        .values()
                        .all(|property| property.get("description").is_some()),
                    "{schema}"
                );
                tables.push(properties.len());
            }
            match schema {
                Value::Array(items) => items.iter().for_each(|item| walk(item, tables)),
                Value::Object(members) => members.values().for_each(|member| walk(member, tables)),
                other => assert_ne!(other, "null"),
            }
        }
        let mut tables = Vec::new();
        walk(&json_schema(), &mut tables);
        tables.sort_unstable();
        assert_eq!(tables, [2, 2, 2, 2, 2, 3, 5, 8, 9, 9, 14, 18, 18]);
    }

    #[test]
    fn every_time_of_a_call_says_from_when_it_counts() {
        fn times(schema: &Value, found: &mut Vec<String>) {
            match schema {
                Value::Array(items) => items.iter().for_each(|item| times(item, found)),
                Value::Object(members) => {
                    for (key, member) in members {
                        if matches!(key.as_str(), "timeout" | "deadline") {
                            found.extend(member["description"].as_str().map(str::to_owned));
                        }
                        times(member, found);
                    }
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        times(&json_schema(), &mut found);
        assert_eq!(found.len(), 3, "{found:?}");
        for told in found {
            assert!(told.contains("from its opening"), "{told}");
        }
    }

    #[test]
    fn every_example_of_the_page_is_a_good_file() {
        let page = std::fs::read_to_string(document("config.md")).unwrap();
        let examples: Vec<&str> = page
            .split("```toml\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap_or_default())
            .collect();
        assert!(examples.len() >= 4, "{} examples", examples.len());
        for example in examples {
            if let Err(faults) = parse(example) {
                panic!("{example}\n{}", shown(example, &faults));
            }
        }
    }

    #[test]
    fn the_page_names_every_key() {
        fn keys(schema: &Value, found: &mut Vec<String>) {
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                found.extend(properties.keys().cloned());
            }
            match schema {
                Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
                Value::Object(members) => members.values().for_each(|member| keys(member, found)),
                _ => {}
            }
        }
        let page = std::fs::read_to_string(document("config.md")).unwrap();
        let mut found = Vec::new();
        keys(&json_schema(), &mut found);
        for key in found {
            assert!(
                page.contains(&format!("`{key}`")),
                "docs/config.md does not name `{key}`"
            );
        }
    }
}
