//! The specification's own schemas, as a check of every line that Candor wrote.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{frame, transcript::Transcript};

/// The schemas of one revision.
pub(crate) struct SpecCheck {
    revision: &'static str,
    schema: Value,
}

/// Compiled definitions, shared by all tests of this program: one takes longer than a conversation.
static COMPILED: LazyLock<Mutex<HashMap<(&'static str, String), &'static Validator>>> =
    LazyLock::new(Mutex::default);

/// The folder with schemas and examples: `$CANDOR_SHARED/spec`, or `shared/spec` beside this repository. Where there is
/// none, says so and gives none; in CI that is a failure.
pub(crate) fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("CANDOR_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let folder = shared.join("spec");
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "{} is missing: in CI it must be there",
        folder.display()
    );
    eprintln!(
        "skipped: no specification at {} (set CANDOR_SHARED)",
        folder.display()
    );
    None
}

/// What kind of result each method gives.
const RESULTS: &[(&str, &str)] = &[
    ("initialize", "InitializeResult"),
    ("server/discover", "DiscoverResult"),
    ("tools/list", "ListToolsResult"),
    ("tools/call", "CallToolResult"),
    ("ping", "EmptyResult"),
];

/// The results of the methods that only 2025-11-25 has.
const OF_TASKS: &[(&str, &str)] = &[
    ("tasks/get", "GetTaskResult"),
    ("tasks/cancel", "CancelTaskResult"),
    ("tasks/result", "CallToolResult"),
];

impl SpecCheck {
    /// The schemas of this revision, where they are.
    pub(crate) fn of(revision: &'static str) -> Option<Self> {
        let file = folder()?.join(format!("schema-{revision}.json"));
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|fault| panic!("{}: {fault}", file.display()));
        Some(Self {
            revision,
            schema: serde_json::from_str(&text).unwrap(),
        })
    }

    /// Checks every line of a run that Candor wrote or changed, on both sides. Where it only put its verdict into a line
    /// of the server, what is wrong with the rest is the server's: such a line must be a message, and no more.
    pub(crate) fn check(&self, transcript: &Transcript) {
        for line in transcript.written_to_host() {
            let requests = if transcript.is_servers_own(line) {
                &[][..]
            } else {
                &transcript.host_sent
            };
            self.check_line(line, requests);
        }
        for line in transcript.written_to_server() {
            self.check_line(line, &transcript.server_sent);
        }
    }

    /// Checks one line: as a message, by its method, and a response by the method of the request it answers.
    pub(crate) fn check_line(&self, line: &str, requests: &[String]) {
        let value = frame::value(line);
        self.check_as("JSONRPCMessage", &value, line);
        if let Some(method) = frame::method(line) {
            if let Some(definition) = self.definition_of(&method) {
                self.check_as(&definition, &value, line);
            }
        } else if let Some(result) = value.get("result") {
            let asked = requests
                .iter()
                .find(|request| frame::id(request) == frame::id(line));
            let method = asked
                .and_then(|request| frame::method(request))
                .unwrap_or_default();
            let wants_task = asked.is_some_and(|request| frame::value(request)["params"]["task"].is_object());
            if result["resultType"] == "input_required" {
                self.check_as("InputRequiredResult", result, line);
            } else if result["resultType"] == "task" {
                // An extension's, which the schema of 2026-07-28 does not define.
                self.check_as("Result", result, line);
            } else if wants_task && result["task"].is_object() {
                self.check_as("CreateTaskResult", result, line);
            } else {
                let of_tasks = OF_TASKS.iter().filter(|_| self.revision == "2025-11-25");
                let mut known = RESULTS.iter().chain(of_tasks);
                if let Some((_, definition)) = known.find(|(of, _)| *of == method) {
                    self.check_as(definition, result, line);
                }
            }
        }
    }

    /// Checks a value against one definition.
    pub(crate) fn check_as(&self, definition: &str, value: &Value, line: &str) {
        let validator = self.validator(definition);
        let faults: Vec<String> = validator
            .iter_errors(value)
            .map(|fault| format!("{} at {}", fault, fault.instance_path()))
            .collect();
        assert!(
            faults.is_empty(),
            "Candor wrote what {} refuses as {definition}:\n{line}\n{}",
            self.revision,
            faults.join("\n")
        );
    }

    /// The key under which this revision keeps its definitions.
    fn definitions(&self) -> &'static str {
        if self.schema.get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        }
    }

    /// The definition of the request or notification with this method.
    fn definition_of(&self, method: &str) -> Option<String> {
        let definitions = self.schema[self.definitions()].as_object()?;
        let of_method = |definition: &&Value| {
            definition
                .pointer("/properties/method/const")
                .and_then(Value::as_str)
                == Some(method)
        };
        definitions
            .iter()
            .find(|(_, definition)| of_method(definition))
            .map(|(name, _)| name.clone())
    }

    fn validator(&self, definition: &str) -> &'static Validator {
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        compiled
            .entry((self.revision, definition.to_owned()))
            .or_insert_with(|| {
                let key = self.definitions();
                assert!(
                    self.schema[key].get(definition).is_some(),
                    "{}: no definition {definition}",
                    self.revision
                );
                let schema = json!({
                    "$schema": self.schema["$schema"],
                    key: self.schema[key],
                    "$ref": format!("#/{key}/{definition}"),
                });
                Box::leak(Box::new(jsonschema::options().offline().build(&schema).unwrap()))
            })
    }
}

#[test]
fn each_revision_takes_what_it_should_and_refuses_the_rest() {
    for revision in candor_fixtures::script::REVISIONS {
        let Some(spec) = SpecCheck::of(revision) else {
            return;
        };
        let asked = [r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#.to_owned()];
        let result = |members: &str| {
            let kind = if revision == candor_fixtures::script::MODERN {
                r#""resultType":"complete","#
            } else {
                ""
            };
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{kind}{members}}}}}"#)
        };
        spec.check_line(&result(r#""content":[{"type":"text","text":"x"}]"#), &asked);
        let refused = [
            result(r#""content":[{"type":"text"}]"#),
            result(r#""content":[],"isError":"yes""#),
            r#"{"id":1,"result":{}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"half"}}"#.to_owned(),
        ];
        for line in refused {
            let checked = std::panic::catch_unwind(|| spec.check_line(&line, &asked));
            assert!(checked.is_err(), "{revision} should refuse {line}");
        }
    }
}
