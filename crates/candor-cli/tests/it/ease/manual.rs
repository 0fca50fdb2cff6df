//! Completions and manual pages know every command.

use super::machine::Machine;

#[test]
fn completions_know_the_commands_in_every_shell() {
    let machine = Machine::bare();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = machine.candor(&["completions", shell]);
        assert_eq!(said.code, Some(0), "{shell}: {}", said.errors);
        for word in [
            "import",
            "doctor",
            "ledger",
            "settle",
            "report",
            "dry-run",
            "unsettled",
        ] {
            assert!(said.out.contains(word), "{shell} lacks {word}");
        }
    }
    let said = machine.candor(&["completions", "tcsh"]);
    assert_eq!(said.code, Some(2));
    assert!(said.errors.contains("bash"), "{}", said.errors);
}

#[test]
fn the_help_says_from_when_the_time_of_a_call_counts() {
    let said = Machine::bare().candor(&["--help"]);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    let help = words.join(" ");
    let option = help.split("--timeout <TIME>").nth(1).unwrap_or_default();
    let option = option.split("--arguments").next().unwrap_or_default();
    for part in [
        "from its opening",
        "list of tools",
        "record",
        "server that starts",
    ] {
        assert!(option.contains(part), "no {part:?} in {option:?}");
    }
}

#[test]
fn a_manual_page_is_there_for_each_command() {
    let machine = Machine::bare();
    let whole = machine.candor(&["man"]);
    assert_eq!(whole.code, Some(0), "{}", whole.errors);
    for part in [".TH candor 1", "import", "CMD"] {
        assert!(whole.out.contains(part), "{part}: {}", whole.out);
    }
    let one = machine.candor(&["man", "ledger", "verify"]);
    assert!(
        one.out.contains("candor ledger verify") || one.out.contains("candor\\-ledger\\-verify"),
        "{}",
        one.out
    );
    let none = machine.candor(&["man", "improt"]);
    assert_eq!(none.code, Some(2));
    assert!(none.errors.contains("import"), "{}", none.errors);
    let all = machine.candor(&["man", "--dir", "pages"]);
    assert_eq!(all.code, Some(0), "{}", all.errors);
    assert!(
        machine.path("project/pages/candor-import.1").is_file()
            && machine.path("project/pages/candor.1").is_file()
    );
}
