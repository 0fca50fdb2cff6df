//! `candor doctor`: finds what is wrong, says what to do, is quiet where nothing is, and changes nothing.

use serde_json::Value;

use super::machine::{Machine, SAMPLES, Said};
use crate::harness::scene::candor;

fn findings(said: &Said) -> Vec<Value> {
    let whole: Value = serde_json::from_str(&said.out).unwrap_or_else(|fault| panic!("{fault}: {said:?}"));
    whole["findings"].as_array().unwrap().clone()
}

/// The codes of the findings with this weight, without those of the record and the clock, and without the one that
/// a busy machine may cause.
fn codes(said: &Said, weight: &str) -> Vec<String> {
    findings(said)
        .iter()
        .filter(|finding| {
            finding["weight"] == weight
                && finding["part"] != "ledger"
                && finding["part"] != "clock"
                && finding["code"] != "lingers"
        })
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect()
}

/// A project's config with one server, wrapped.
fn wrapped(command: &[&str], env: &Value) -> String {
    let args: Vec<&str> = ["--"].into_iter().chain(command.iter().copied()).collect();
    let program = candor().into_string().unwrap();
    serde_json::json!({ "mcpServers": { "it": { "command": program, "args": args, "env": env } } })
        .to_string()
}

#[test]
fn a_sound_machine_has_no_problems_and_nothing_is_changed() {
    let machine = Machine::with_samples();
    let before = machine.files();
    let said = machine.candor(&["doctor"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.errors);
    for told in [
        "would be wrapped: npx",
        "candor import --host cursor --server search",
        "no record yet",
        "No problems.",
    ] {
        assert!(said.out.contains(told), "{told}: {}", said.out);
    }
    assert!(!said.out.contains("SENTINEL"), "{}", said.out);
    assert_eq!(machine.files(), before);
    let program = candor().into_string().unwrap();
    machine.candor(&["import", "--all", "--candor", &program]);
    let said = machine.candor(&["doctor", "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.out);
    let servers: usize = SAMPLES.iter().map(|sample| sample.servers.len()).sum();
    let wrapped = codes(&said, "ok")
        .iter()
        .filter(|code| *code == "wrapped")
        .count();
    assert_eq!(wrapped, servers, "{}", said.out);
    assert!(!said.out.contains("SENTINEL"));
}

#[test]
fn what_keeps_a_server_from_starting_is_found() {
    let machine = Machine::bare();
    for (text, code) in [
        (
            r#"{"mcpServers":{"it":{"command":"no-such-program"}}}"#.to_owned(),
            "command_not_found",
        ),
        (
            r#"{"mcpServers":{"it":{"command":"npx","env":{"PATH":"/nowhere"}}}}"#.to_owned(),
            "command_not_found",
        ),
        (
            r#"{"mcpServers":{"it":{"command":"~/bin/x"}}}"#.to_owned(),
            "command_not_found",
        ),
        (wrapped(&["no-such-program"], &Value::Null), "command_not_found"),
        (
            r#"{"mcpServers":{"it":{"command":"/nowhere/candor","args":["--","npx"]}}}"#.to_owned(),
            "candor_not_found",
        ),
        (
            wrapped(&["npx"], &Value::Null).replace(r#"["--","#, r#"["--timeout","soon","--","#),
            "options_refused",
        ),
        (
            wrapped(&["npx"], &Value::Null).replace(r#"["--","#, r#"["--config","/nowhere.toml","--","#),
            "config_unreadable",
        ),
        (
            r#"{"mcpServers":{"it":{"command":["npx"]}}}"#.to_owned(),
            "not_understood",
        ),
        (r#"{"mcpServers":"#.to_owned(), "config_unusable"),
    ] {
        machine.write("project/.mcp.json", &text);
        let said = machine.candor(&["doctor", "--json"]);
        assert_eq!(
            (said.code, codes(&said, "problem")),
            (Some(1), vec![code.to_owned()]),
            "{text}\n{}",
            said.out
        );
        for finding in findings(&said)
            .iter()
            .filter(|finding| finding["weight"] == "problem")
        {
            assert!(
                finding["do"].as_str().is_some_and(|todo| todo.len() > 10),
                "{finding}"
            );
        }
    }
    for quiet in [
        r#"{"mcpServers":{"it":{"command":"no-such-program","disabled":true}}}"#,
        r#"{"mcpServers":{"it":{"command":"${workspaceFolder}/x"}}}"#,
        r#"{"mcpServers":{"it":{"command":"npx"}}}"#,
    ] {
        machine.write("project/.mcp.json", quiet);
        let said = machine.candor(&["doctor", "--json"]);
        assert_eq!(
            (said.code, codes(&said, "problem")),
            (Some(0), vec![]),
            "{}",
            said.out
        );
    }
}

#[test]
fn a_probe_starts_the_server_and_looks_at_its_tools() {
    let machine = Machine::bare();
    machine.write("project/.mcp.json", &wrapped(&["npx", "-y", "x"], &Value::Null));
    let said = machine.candor(&["doctor", "--json"]);
    assert_eq!(
        codes(&said, "ok"),
        ["wrapped"],
        "without --probe nothing is started"
    );
    assert!(machine.called("npx").is_empty());
    let said = machine.candor(&["doctor", "--json", "--probe"]);
    assert_eq!(said.code, Some(0), "{}", said.out);
    assert_eq!(codes(&said, "ok"), ["wrapped", "listed"]);
    assert_eq!(machine.called("npx"), ["npx", "-y", "x"]);
}

/// A server in the shell: answers the requests in order, whatever they are.
fn answering(answers: &[&str]) -> String {
    let mut script = String::new();
    for (index, answer) in answers.iter().enumerate() {
        script.push_str(&format!(
            "while read -r line; do case \"$line\" in *'\"id\":{id},'*) break;; esac; done\nprintf '%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}'\n",
            id = index + 1
        ));
    }
    script + "cat > /dev/null"
}

const OPENED: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}"#;

#[test]
fn tools_that_hosts_or_candor_can_not_use_are_named() {
    let machine = Machine::bare();
    let long = "x".repeat(65);
    let tools = format!(
        r#""result":{{"tools":[{{"name":"{long}","description":"d","inputSchema":{{"type":"object"}}}},{{"name":"twice","description":"d","inputSchema":{{"type":"object"}}}}],"nextCursor":"2"}}"#
    );
    let more = r#""result":{"tools":[{"name":"twice","description":"d","inputSchema":{"type":"object"}},{"name":"bad","description":"d","inputSchema":{"type":5}},{"name":"mute","inputSchema":{"type":"object"}}]}"#;
    machine.program("npx", &answering(&[OPENED, &tools, more]));
    machine.write("project/.mcp.json", &wrapped(&["npx"], &Value::Null));
    let said = machine.candor(&["doctor", "--json", "--probe"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert_eq!(
        codes(&said, "problem"),
        ["name_too_long", "schema_unusable", "tool_twice"]
    );
    assert_eq!(codes(&said, "note"), ["no_description"]);
}

#[test]
fn a_server_that_stays_when_its_input_ends_is_ended_and_told() {
    let machine = Machine::bare();
    let tools = r#""result":{"tools":[]}"#;
    let stays = answering(&[OPENED, tools]).replace("cat > /dev/null", "exec sleep 600");
    machine.program("npx", &stays);
    machine.write("project/.mcp.json", &wrapped(&["npx"], &Value::Null));
    let said = machine.candor(&["doctor", "--json", "--probe"]);
    assert_eq!(said.code, Some(0), "{}", said.out);
    assert!(said.out.contains("\"lingers\""), "{}", said.out);
    assert!(said.errors.contains("does not end by itself"), "{}", said.errors);
}

#[test]
fn the_record_that_a_server_is_given_is_looked_at_too() {
    let machine = Machine::bare();
    machine.write(
        "project/notes.txt",
        "this is no record of calls, but a text of somebody",
    );
    let notes = machine.path("project/notes.txt");
    let entry = wrapped(&["npx"], &Value::Null);
    let by_option = entry.replace(
        r#"["--","#,
        &format!(r#"["--ledger","{}","--","#, notes.display()),
    );
    let by_variable = wrapped(&["npx"], &serde_json::json!({ "CANDOR_LEDGER": notes }));
    for text in [by_option, by_variable] {
        machine.write("project/.mcp.json", &text);
        let said = machine.candor(&["doctor", "--json"]);
        assert_eq!(said.code, Some(1), "{}", said.out);
        assert!(
            said.out.contains("not_a_ledger") && said.out.contains("no_ledger"),
            "{}",
            said.out
        );
    }
}

#[test]
fn a_server_of_the_newest_revision_is_asked_as_it_wants() {
    let machine = Machine::bare();
    let refused = r#""error":{"code":-32601,"message":"Method not found"}"#;
    let tools = r#""result":{"resultType":"complete","tools":[{"name":"a","description":"d","inputSchema":{"type":"object"}}]}"#;
    machine.program("npx", &answering(&[refused, tools]));
    machine.write("project/.mcp.json", &wrapped(&["npx"], &Value::Null));
    let said = machine.candor(&["doctor", "--json", "--probe"]);
    assert_eq!(
        (said.code, codes(&said, "ok")),
        (Some(0), vec!["wrapped".to_owned(), "listed".to_owned()]),
        "{}",
        said.out
    );
}

#[test]
fn a_server_that_gives_no_answer_says_why_and_never_what_is_secret() {
    let machine = Machine::bare();
    machine.write(
        "project/.mcp.json",
        &wrapped(&["npx"], &serde_json::json!({ "ANY": "SENTINEL-of-env" })),
    );
    for (script, code) in [
        ("echo \"can not log in with $ANY\" >&2; exit 3", "ended_early"),
        ("echo waiting >&2; cat > /dev/null", "no_answer"),
        (
            &answering(&[
                r#""error":{"code":-1,"message":"a"}"#,
                r#""error":{"code":-1,"message":"b SENTINEL-of-env"}"#,
            ]),
            "refused",
        ),
    ] {
        // Short only where it has to pass.
        let patience = if code == "no_answer" { "3s" } else { "60s" };
        machine.program("npx", script);
        let said = machine.candor(&["doctor", "--json", "--probe", "--timeout", patience]);
        assert_eq!(
            (said.code, codes(&said, "problem")),
            (Some(1), vec![code.to_owned()]),
            "{}",
            said.out
        );
        assert!(
            !said.out.contains("SENTINEL") && !said.errors.contains("SENTINEL"),
            "{}",
            said.out
        );
        if code == "no_answer" {
            assert!(
                said.errors.contains("still waiting for it"),
                "what takes long is told: {}",
                said.errors
            );
        }
        if code == "ended_early" {
            assert!(said.out.contains("can not log in with"), "{}", said.out);
        }
    }
}

#[test]
fn the_record_and_the_configuration_are_looked_at() {
    let machine = Machine::bare();
    machine.write(
        "project/notes.txt",
        "this is no record of calls, but a text of somebody",
    );
    let said = machine.candor(&["doctor", "--json", "--ledger", "notes.txt"]);
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("not_a_ledger"), "{}", said.out);
    machine.write("project/candor.toml", "[servers.a]\ntrust_anotations = true\n");
    let said = machine.candor(&["doctor", "--json", "-c", "candor.toml"]);
    assert_eq!(
        (said.code, codes(&said, "problem")),
        (Some(1), vec!["config_invalid".to_owned()]),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("candor.toml:2:1") && said.out.contains("trust_annotations"),
        "{}",
        said.out
    );
    machine.write("project/candor.toml", "ledger = \"here.sqlite\"\n");
    let said = machine.candor(&["doctor", "--json", "-c", "candor.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.out);
    assert!(
        said.out.contains("here.sqlite"),
        "the configured record is the one looked at: {}",
        said.out
    );
    let said = machine.candor(&["doctor", "missing.json"]);
    assert_eq!(said.code, Some(2));
    assert!(said.errors.contains("missing.json"));
}
