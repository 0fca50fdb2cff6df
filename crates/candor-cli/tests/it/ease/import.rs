//! `candor import`: what it would do, what it does, and what it refuses.

use candor_fixtures::script::Era;

use super::machine::{Machine, SAMPLES};
use super::sampled::{launch, parsed, words};
use crate::harness::{conversation::Opening, host::Host, scene::candor};

#[test]
fn a_dry_run_shows_each_change_and_makes_none() {
    let machine = Machine::with_samples();
    let before = machine.files();
    for sample in SAMPLES {
        let said = machine.candor(&["import", "--host", sample.host, "--dry-run", "--candor", "candor"]);
        assert_eq!(said.code, Some(0), "{}: {}", sample.host, said.errors);
        assert!(
            !said.out.contains("SENTINEL") && !said.errors.contains("SENTINEL"),
            "{}",
            said.out
        );
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
            let place = if sample.host == "claude-desktop" {
                said.out.replace(sample.place, "PLACE")
            } else {
                said.out.clone()
            };
            insta::assert_snapshot!(format!("dry_run_{}", sample.host), format!("{place}---\n{}", said.errors));
        });
    }
    assert_eq!(machine.files(), before);
}

#[test]
fn without_a_choice_everything_is_listed_and_nothing_changes() {
    let machine = Machine::with_samples();
    let before = machine.files();
    let said = machine.candor(&["import"]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(!said.out.contains("SENTINEL"), "{}", said.out);
    assert_eq!(machine.files(), before);
    for sample in SAMPLES {
        for (name, _) in sample.servers {
            assert!(
                said.out.contains(&format!("  {name}  would be wrapped: ")),
                "{name}: {}",
                said.out
            );
        }
    }
    for line in [
        "issues  not wrapped yet: HTTP https://",
        "postgres  left: it has no command",
        "Nothing was changed.",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    assert!(
        said.out.contains("Zed: ~/.config/zed/settings.json"),
        "{}",
        said.out
    );
}

#[test]
fn on_a_machine_without_hosts_the_places_are_told() {
    let machine = Machine::bare();
    let said = machine.candor(&["import"]);
    assert_eq!(said.code, Some(0));
    assert!(
        said.out.contains("~/.cursor/mcp.json") && said.out.contains("candor import FILE"),
        "{}",
        said.out
    );
    let said = machine.candor(&["import", "--host", "codex"]);
    assert_eq!(said.code, Some(2));
    assert!(said.errors.contains("~/.codex/config.toml"), "{}", said.errors);
    let said = machine.candor(&["import", "--host", "cursr"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.errors.contains("cursor"),
        "the nearest name: {}",
        said.errors
    );
}

#[test]
fn a_wrapped_server_of_each_host_starts_as_it_did() {
    let machine = Machine::with_samples();
    let program = candor().into_string().unwrap();
    let said = machine.candor(&["import", "--all", "--candor", &program]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    for sample in SAMPLES {
        let config = parsed(sample, &machine.read(sample.place));
        for (name, own) in sample.servers {
            let mut command = words(launch(&config, name)).into_iter();
            let mut host = machine.command(command.next().unwrap());
            host.args(command);
            let mut host = Host::start(host);
            let opening = Opening::newest(Era::Legacy);
            opening.open(&mut host);
            let tools = host.ask(&opening.request("1", "tools/list", serde_json::json!({})));
            assert!(tools.contains("book_room"), "{}: {tools}", sample.host);
            let refused = host.ask(&opening.call("2", "book_room", &serde_json::json!({ "room": "twelve" })));
            assert!(
                refused.contains("candor/verdict"),
                "Candor stands between: {refused}"
            );
            assert_eq!(host.close().code, Some(0));
            assert_eq!(machine.called(own[0]), *own, "{}", sample.host);
        }
    }
    let recorded = machine.candor(&["calls", "--json"]);
    let calls: usize = SAMPLES.iter().map(|sample| sample.servers.len()).sum();
    assert_eq!(recorded.out.lines().count(), calls, "{}", recorded.out);
}

#[test]
fn what_can_not_be_read_is_named_with_its_place_and_left() {
    let machine = Machine::bare();
    for (name, text, told) in [
        (
            "a.json",
            "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"npx\" \"args\": [] }\n  }\n}\n",
            "a.json:3:29: `\"` stands where `,` or `}` was expected",
        ),
        ("b.json", "", "b.json:1:1: the end of the file"),
        ("c.toml", "[mcp_servers.a]\ncommand = npx\n", "c.toml:2:11: "),
        ("d.yaml", "mcpServers: []\n", "YAML"),
        (
            "e.json",
            "{\"mcpServers\": {\"a\": {\"command\": \"npx\"}}",
            "e.json:1:41",
        ),
    ] {
        let place = format!("project/{name}");
        machine.write(&place, text);
        let said = machine.candor(&["import", name, "--candor", "candor"]);
        assert_eq!(said.code, Some(2), "{name}: {}", said.out);
        assert!(said.errors.contains(told), "{name}: {}", said.errors);
        assert_eq!(machine.read(&place), text);
    }
    let said = machine.candor(&["import", "missing.json"]);
    assert_eq!(said.code, Some(2));
    assert!(said.errors.contains("missing.json"), "{}", said.errors);
    assert!(
        machine
            .beside("project/a.json")
            .iter()
            .all(|name| !name.contains("candor"))
    );
}

#[test]
fn one_bad_file_does_not_keep_the_others_from_being_changed() {
    let machine = Machine::bare();
    machine.write("project/bad.json", "{");
    machine.write("project/good.json", r#"{"mcpServers":{"a":{"command":"npx"}}}"#);
    let said = machine.candor(&["import", "bad.json", "good.json", "--candor", "candor"]);
    assert_eq!(said.code, Some(2), "a failure is not passed off as success");
    assert!(machine.read("project/good.json").contains(r#""candor""#));
}

#[test]
fn unknown_forms_are_left_and_cost_no_other_server() {
    let machine = Machine::bare();
    let text = r#"{"mcpServers":{"list":{"command":["npx","x"]},"line":{"command":"npx -y x"},"none":7,"good":{"command":"npx"}}}"#;
    machine.write("project/mixed.json", text);
    let said = machine.candor(&["import", "mixed.json", "--candor", "candor"]);
    assert_eq!(said.code, Some(1), "{}", said.errors);
    for told in [
        "list  left, not understood",
        "line  left, not understood",
        "none  left, not understood",
        "good  wrapped: npx",
    ] {
        assert!(said.out.contains(told), "{told}: {}", said.out);
    }
    let expected = text.replace(
        r#"{"command":"npx"}"#,
        r#"{"command":"candor","args":["--", "npx"]}"#,
    );
    assert_eq!(machine.read("project/mixed.json"), expected);
    machine.write("project/other.json", r#"{"something": {"command": "npx"}}"#);
    let said = machine.candor(&["import", "other.json"]);
    assert_eq!(said.code, Some(0));
    assert!(
        said.out.contains("no place for servers") && said.out.contains("mcpServers"),
        "{}",
        said.out
    );
}

#[test]
fn options_that_candor_would_refuse_later_are_refused_now() {
    let machine = Machine::with_samples();
    let before = machine.files();
    for options in [
        &["--timeout", "soon"][..],
        &["--no-such"],
        &["calls"],
        &["--config", "candor.toml"],
        &["--read"],
    ] {
        let said = machine.candor(&[&["import", "--all", "--"], options].concat());
        assert_eq!(said.code, Some(2), "{options:?}: {}", said.out);
        assert!(!said.errors.is_empty());
    }
    assert_eq!(machine.files(), before);
}

#[test]
fn what_hosts_start_is_found_from_anywhere_and_files_of_a_project_suit_everybody() {
    let machine = Machine::with_samples();
    machine.candor(&["import", "--host", "cursor", "--host", "claude-code"]);
    let program = |index: usize, name: &str| {
        words(launch(
            &parsed(&SAMPLES[index], &machine.read(SAMPLES[index].place)),
            name,
        ))
        .remove(0)
    };
    assert_eq!(program(1, "git"), "candor");
    assert!(std::path::Path::new(&program(2, "search")).is_absolute());
}
