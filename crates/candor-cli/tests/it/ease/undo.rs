//! `candor import` and back: what is undone is as it was, to the last byte.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::machine::{Machine, SAMPLES};
use super::sampled::{launch, parsed, words};

#[test]
fn a_changed_config_says_the_same_but_for_candor_and_goes_back_byte_for_byte() {
    let machine = Machine::with_samples();
    for sample in SAMPLES {
        let said = machine.candor(&[
            "import",
            "--host",
            sample.host,
            "--candor",
            "/opt/candor",
            "--",
            "--timeout",
            "40s",
        ]);
        assert_eq!(said.code, Some(0), "{}: {}", sample.host, said.errors);
        assert!(said.out.contains("Backup: "), "{}", said.out);
        assert!(!said.out.contains("SENTINEL"), "{}", said.out);
        let after = machine.read(sample.place);
        let (old, new) = (parsed(sample, sample.text), parsed(sample, &after));
        for (name, own) in sample.servers {
            let mut expected = vec!["/opt/candor", "--timeout", "40s", "--"];
            expected.extend(*own);
            assert_eq!(words(launch(&new, name)), expected, "{}", sample.host);
            for kept in [
                "env",
                "cwd",
                "type",
                "timeout",
                "startup_timeout_sec",
                "disabled",
                "disabledTools",
            ] {
                assert_eq!(
                    launch(&new, name).get(kept),
                    launch(&old, name).get(kept),
                    "{}: {kept}",
                    sample.host
                );
            }
        }
        // Every line that needed no change is there as it was.
        let kept = sample
            .text
            .lines()
            .filter(|line| after.lines().any(|new| new == *line))
            .count();
        let lost = sample.text.lines().count() - kept;
        assert!(lost <= 2 * sample.servers.len(), "{}:\n{after}", sample.host);

        let again = machine.candor(&["import", "--host", sample.host, "--candor", "/opt/candor"]);
        assert_eq!(again.code, Some(0));
        assert!(again.out.contains("Nothing to change"), "{}", again.out);
        assert_eq!(machine.read(sample.place), after, "once is enough");

        let back = machine.candor(&["import", "--host", sample.host, "--undo"]);
        assert_eq!(back.code, Some(0), "{}", back.errors);
        assert!(back.out.contains("byte for byte"), "{}", back.out);
        assert_eq!(machine.read(sample.place), sample.text, "{}", sample.host);
        let left: Vec<_> = machine
            .beside(sample.place)
            .into_iter()
            .filter(|name| name.contains("candor"))
            .collect();
        assert_eq!(left, Vec::<String>::new());
        let nothing = machine.candor(&["import", "--host", sample.host, "--undo"]);
        assert!(nothing.out.contains("Nothing to undo"), "{}", nothing.out);
        assert_eq!(machine.read(sample.place), sample.text);
    }
}

#[test]
fn after_a_change_by_somebody_else_only_candor_is_taken_out() {
    let machine = Machine::with_samples();
    for sample in SAMPLES {
        machine.candor(&["import", "--host", sample.host, "--candor", "candor"]);
        let theirs = if sample.place.ends_with(".toml") {
            "# theirs\n"
        } else {
            "\n\n"
        };
        machine.write(sample.place, &format!("{theirs}{}", machine.read(sample.place)));
        let dry = machine.candor(&["import", "--host", sample.host, "--undo", "--dry-run"]);
        assert!(
            dry.out.contains("+++") && dry.errors.contains("taken out"),
            "{}{}",
            dry.out,
            dry.errors
        );
        assert!(!dry.out.contains("SENTINEL"), "{}", dry.out);
        let back = machine.candor(&["import", "--host", sample.host, "--undo"]);
        assert_eq!(back.code, Some(0), "{}", back.errors);
        assert!(
            back.out.contains("changed after the import") && back.out.contains("The backup stays"),
            "{}",
            back.out
        );
        assert_eq!(
            machine.read(sample.place),
            format!("{theirs}{}", sample.text),
            "{}",
            sample.host
        );
    }
}

#[test]
fn several_imports_are_undone_as_one_and_one_server_by_its_name() {
    let machine = Machine::with_samples();
    let desktop = &SAMPLES[0];
    let import = |words: &[&str]| {
        let said = machine.candor(&[&["import", "--host", "claude-desktop"], words].concat());
        assert_eq!(said.code, Some(0), "{}", said.errors);
    };
    import(&["--server", "github", "--candor", "candor"]);
    import(&["--server", "filesystem", "--candor", "candor"]);
    assert_eq!(
        words(launch(
            &parsed(desktop, &machine.read(desktop.place)),
            "filesystem"
        ))[..2],
        ["candor", "--"]
    );
    import(&["--undo"]);
    assert_eq!(machine.read(desktop.place), desktop.text);

    import(&["--candor", "candor"]);
    import(&["--undo", "--server", "github"]);
    let now = parsed(desktop, &machine.read(desktop.place));
    assert_eq!(words(launch(&now, "filesystem"))[0], "candor");
    assert_eq!(words(launch(&now, "github"))[0], "docker");
    import(&["--undo"]);
    assert_eq!(machine.read(desktop.place), desktop.text);
    let said = machine.candor(&["import", "--host", "claude-desktop", "--server", "gitub"]);
    assert_eq!(said.code, Some(2));
    assert!(said.errors.contains("filesystem, github"), "{}", said.errors);
}

#[test]
fn a_link_stays_one_and_a_read_only_file_stays_as_it_is() {
    let machine = Machine::bare();
    let text = r#"{"mcpServers":{"a":{"command":"npx"}}}"#;
    machine.write("dotfiles/cursor.json", text);
    fs::create_dir(machine.path(".cursor")).unwrap();
    symlink(
        machine.path("dotfiles/cursor.json"),
        machine.path(".cursor/mcp.json"),
    )
    .unwrap();
    let said = machine.candor(&["import", "--host", "cursor", "--candor", "candor"]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(
        machine
            .path(".cursor/mcp.json")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
    assert!(machine.read("dotfiles/cursor.json").contains("candor"));
    assert_eq!(
        machine.beside("dotfiles/cursor.json").len(),
        1,
        "the backup is beside the file itself"
    );
    machine.candor(&["import", "--host", "cursor", "--undo"]);
    assert_eq!(machine.read("dotfiles/cursor.json"), text);

    let file = machine.path("dotfiles/cursor.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let said = machine.candor(&["import", "--host", "cursor", "--candor", "candor"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.errors.contains("read-only") && said.errors.contains("chmod u+w"),
        "{}",
        said.errors
    );
    assert_eq!(machine.read("dotfiles/cursor.json"), text);
}

#[test]
fn a_candor_of_another_name_is_known_by_saying_so() {
    let machine = Machine::bare();
    let text = r#"{"mcpServers":{"a":{"command":"npx"}}}"#;
    machine.write("project/x.json", text);
    machine.candor(&["import", "x.json", "--candor", "/opt/of-today"]);
    machine.write("project/x.json", &format!("{}\n", machine.read("project/x.json")));
    let said = machine.candor(&["import", "x.json", "--undo"]);
    assert!(
        said.out.contains("Nothing to undo") && said.out.contains("--candor"),
        "{}",
        said.out
    );
    machine.candor(&["import", "x.json", "--undo", "--candor", "/opt/of-today"]);
    assert_eq!(machine.read("project/x.json"), format!("{text}\n"));
}
